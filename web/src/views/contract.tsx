import { type VNode } from 'preact';
import { type Evidence } from '../answers.ts';
import { type ContractData, type ContractFacts, loadContract } from '../contract/contract-data.ts';
import { CompareForm } from '../contract/compare-form.tsx';
import { EvidenceSection } from '../contract/evidence-section.tsx';
import { HiddenCharactersNotice } from '../contract/hidden-characters-notice.tsx';
import { HistorySection } from '../contract/history-section.tsx';
import { isUnknownChain, NotVerified } from '../contract/not-verified.tsx';
import { Withdrawn, WithdrawnUnread } from '../contract/withdrawn.tsx';
import { OtherTextsSection } from '../contract/other-texts-section.tsx';
import { SourcesSection } from '../contract/sources-section.tsx';
import { AbiSection } from '../contract/abi-section.tsx';
import { Chips } from '../contract/chips.tsx';
import { ProxyLine } from '../contract/proxy-line.tsx';
import { ProofSection } from '../contract/proof-section.tsx';
import { DownloadSection, JsonSection, SameCodeSection } from '../contract/sections.tsx';
import { ValuesSection } from '../contract/values-section.tsx';
import { Tabs } from '../contract/tabs.tsx';
import { UpgradesSection } from '../contract/upgrades-section.tsx';
import { isClaim } from '../contract/is-claim.ts';
import { describeMatch, describeUnproven } from '../contract/verdict.ts';
import { CheckNow } from '../contract/check-now.tsx';
import { formatAgo, formatCount, formatTime } from '../format.ts';
import { definePage, onlyInTheService, type ViewProps } from '../page.ts';
import { ChainIcon } from '../parts/chain-icon.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { MatchMark } from '../parts/match-mark.tsx';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import './contract.css';

/** Page of a contract: the verdict first, then its evidence, then the sources. */
export const page = definePage<ContractData>({
  isShared: true,
  title: ({ data, request: { params } }) => {
    const name = nameOf(data);
    return `${name ?? params['address'] ?? ''} on chain ${params['chain'] ?? ''}`;
  },
  about: ({ data, request: { params } }) => {
    const facts = data.contract.state === 'ready' ? data.contract.value : undefined;
    const place = `${facts?.address ?? params['address'] ?? ''} on chain ${params['chain'] ?? ''}`;
    const verdict = facts?.match && describeMatch(facts.match, evidenceOf(data));
    if (data.withdrawn !== undefined) return `Withdrawn, not verified: ${place}.`;
    if (!verdict) return `Whether ${place} is verified here.`;
    return [`${verdict.title}: ${place}.`, facts?.chips.join(', ') ?? ''].join(' ').trim();
  },
  card: ({ data: { contract, withdrawn }, request: { params }, context }) => {
    const shown = [contract, withdrawn].find((each) => each?.state === 'ready');
    return shown?.state === 'ready' && context.isUnlisted !== true
      ? `card/${params['chain'] ?? ''}/${shown.value.address}.png`
      : undefined;
  },
  load: import.meta.env.SSR ? loadContract : onlyInTheService,
  status: ({ contract }) => {
    if (contract.state === 'ready') return 200;
    if (isUnknownChain(contract)) return 404;
    return [400, 404].includes(contract.status) ? contract.status : 503;
  },
  View: ContractView,
});

function ContractView(props: ViewProps<ContractData>): VNode {
  const { contract, withdrawn } = props.data;
  if (contract.state === 'ready') return <Verified {...props} facts={contract.value} />;
  return (
    <>
      <Heading {...props} />
      {withdrawn?.state === 'ready' ? (
        <Withdrawn {...props} facts={withdrawn.value} />
      ) : withdrawn !== undefined ? (
        <WithdrawnUnread {...props} />
      ) : contract.status === 404 || isUnknownChain(contract) ? (
        <>
          <NotVerified {...props} />
          <HistorySection events={props.data.events} />
        </>
      ) : contract.status === 400 ? (
        <div class="verdict bad">
          <p class="verdict-title">Invalid chain or address</p>
          <p>{contract.message}</p>
        </div>
      ) : (
        <>
          <div class="verdict unknown">
            <p class="verdict-title">The record could not be read</p>
            <p>It is not known at the moment whether this contract is verified here.</p>
          </div>
          <Failure what="The record" loaded={contract} />
        </>
      )}
    </>
  );
}

/** Name of the contract, also of a withdrawn one. */
const nameOf = ({ contract, withdrawn }: ContractData): string | undefined =>
  contract.state === 'ready'
    ? contract.value.compilation?.name
    : withdrawn?.state === 'ready'
      ? withdrawn.value.name
      : undefined;

function Heading({
  data,
  request: { params },
  context: { base, apiUrl = '', isUnlisted },
}: ViewProps<ContractData>): VNode {
  const { contract, chain, evidence, withdrawn } = data;
  const facts = contract.state === 'ready' ? contract.value : undefined;
  const gone = withdrawn?.state === 'ready' ? withdrawn.value : undefined;
  const name = nameOf(data);
  const chainId = params['chain'] ?? '';
  const address = facts?.address ?? gone?.address ?? params['address'] ?? '';
  const place = `${chainId}/${address}`;
  const page = `${apiUrl}/contract/${place}`;
  const license = evidence.state === 'ready' ? evidence.value.license : null;
  // A partial match does not prove comments.
  const declared = facts?.match === 'full' ? '' : ' (declared in the sources)';
  const chips = [
    ...(facts?.chips ?? gone?.chips ?? []),
    ...(license === null ? [] : [`licence ${license}${declared}`]),
  ];
  return (
    <header class="contract-heading">
      <div class="title-row">
        <h1>{name === undefined ? 'Contract' : <SafeText text={name} />}</h1>
        <p class="actions">
          <CopyButton text={page} what="the link to this page" label="Share" />{' '}
          {facts !== undefined && isUnlisted !== true && (
            <CopyButton
              text={`[![verified](${apiUrl}/badge/${place}.svg)](${page})`}
              what="the badge, as Markdown"
              label="Badge"
            />
          )}{' '}
          {chain.state === 'ready' && chain.value.explorer !== undefined && (
            <a class="button small" href={chain.value.explorer} rel="noreferrer nofollow">
              Explorer ↗
            </a>
          )}
        </p>
      </div>
      <p class="contract-place">
        <span>
          <code>{address}</code> <CopyButton text={address} what="the address" />
        </span>
        <span>
          <ChainIcon
            {...{ chainId, base }}
            hasIcon={chain.state === 'ready' && chain.value.hasIcon}
          />
          {isUnknownChain(contract) ? (
            `chain ${chainId}`
          ) : (
            <a href={`${base}registry/${encodeURIComponent(chainId)}`}>
              {chain.state === 'ready' ? <SafeText text={chain.value.name} /> : `chain ${chainId}`}
            </a>
          )}{' '}
          {chain.state === 'ready' && <span class="quiet">chain {chainId}</span>}
        </span>
      </p>
      {chips.length > 0 && <Chips texts={chips} />}
      {evidence.state === 'ready' && (
        <ProxyLine proxy={evidence.value.proxyResolution} {...{ base, chainId, address }} />
      )}
    </header>
  );
}

function Verified(props: ViewProps<ContractData> & { readonly facts: ContractFacts }): VNode {
  const { facts, data } = props;
  const { match, compilation } = facts;
  const evidence = evidenceOf(data);
  const { unproven = [], origin } = evidence ?? {};
  const verdict = match && describeMatch(match, evidence);
  return (
    <>
      <Heading {...props} />
      {verdict !== null && (
        <div class={`verdict ${isClaim(origin) ? 'claimed' : match}`}>
          <p class="verdict-title">
            <MatchMark match={match} isClaimed={isClaim(origin)} /> <span>{verdict.title}</span>
          </p>
          <p>{verdict.text}</p>
          {isClaim(origin) && compilation !== null && (
            <CheckNow
              verify={props.context.verify}
              base={props.context.base}
              chainId={props.request.params['chain'] ?? ''}
              address={facts.address}
              compilation={compilation}
            />
          )}
          {describeUnproven(unproven, compilation?.language).map((text) => (
            <p key={text}>{text}</p>
          ))}
          {facts.verifiedAt !== undefined && (
            <p class="quiet">
              {isClaim(origin) ? 'Imported' : 'Verified'}{' '}
              <time dateTime={facts.verifiedAt} title={formatTime(facts.verifiedAt)}>
                {formatAgo(facts.verifiedAt, props.context.now)}
              </time>
              {evidence?.codeReading && (
                <> against block {formatCount(evidence.codeReading.blockNumber)}</>
              )}
              .
            </p>
          )}
        </div>
      )}
      <HiddenCharactersNotice parts={facts.hiddenIn} files={facts.sources?.files} />
      <Tabs
        current={data.tab}
        counts={{ ...(facts.sources !== undefined && { code: facts.sources.total }) }}
      />
      <Part {...props} />
    </>
  );
}

/** The active tab. */
function Part(props: ViewProps<ContractData> & { readonly facts: ContractFacts }): VNode {
  const { facts, data, request, context } = props;
  switch (data.tab) {
    case 'code':
      return (
        <>
          <SourcesSection
            of={facts}
            loaded={data.sources}
            rawFolder={rawFolderOf(props)}
            hasDownloads
          />
          <OtherTextsSection
            {...{ facts, evidence: data.evidence, base: context.base }}
            chainId={request.params['chain'] ?? ''}
          />
        </>
      );
    case 'abi':
      return (
        <>
          <AbiSection facts={facts} />
          <Values {...props} />
        </>
      );
    case 'proof':
      return (
        <>
          <ProofSection facts={facts} evidence={evidenceOf(data)} />
          <Values {...props} />
          <EvidenceSection facts={facts} evidence={data.evidence} />
          {facts.compilation !== null && (
            <JsonSection title="Compiler settings" shown={facts.compilation.settings} />
          )}
          {facts.metadata !== undefined && <JsonSection title="Metadata" shown={facts.metadata} />}
        </>
      );
    case 'downloads':
      return <DownloadSection {...props} />;
    case 'history':
      return (
        <>
          <HistorySection events={data.events} />
          {context.isUnlisted !== true && (
            <UpgradesSection
              proxy={evidenceOf(data)?.proxyResolution}
              base={context.base}
              chainId={request.params['chain'] ?? ''}
              address={facts.address}
            />
          )}
          <SameCodeSection {...props} />
          {context.isUnlisted !== true && (
            <section aria-labelledby="compare">
              <h2 id="compare">Compare</h2>
              <CompareForm
                base={context.base}
                chainId={request.params['chain'] ?? ''}
                address={facts.address}
              />
            </section>
          )}
        </>
      );
  }
}

/** Values that only the chain knows; nothing if the contract has none. */
function Values({
  facts: { values },
  data,
  request: { params },
  context: { base },
}: ViewProps<ContractData> & { readonly facts: ContractFacts }): VNode | null {
  if (values === undefined) return null;
  const unproven = evidenceOf(data)?.unproven ?? [];
  return <ValuesSection {...{ values, unproven, base }} chainId={params['chain'] ?? ''} />;
}

/** Folder of the contract in the published tree; undefined if that is not served. */
function rawFolderOf({
  facts: { match, address },
  request: { params },
  context: { repositoryUrl },
}: ViewProps<ContractData> & { readonly facts: ContractFacts }): string | undefined {
  const folder = match === 'full' ? 'full_match' : 'partial_match';
  const place = `${params['chain'] ?? ''}/${address}`;
  return repositoryUrl && `${repositoryUrl}/contracts/${folder}/${place}`;
}

function evidenceOf({ evidence }: ContractData): Evidence | undefined {
  return evidence.state === 'ready' ? evidence.value : undefined;
}
