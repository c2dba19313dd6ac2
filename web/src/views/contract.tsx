import { type VNode } from 'preact';
import { type ContractData, type ContractFacts, loadContract } from '../contract/contract-data.ts';
import { EvidenceSection } from '../contract/evidence-section.tsx';
import { HistorySection, withdrawalOf } from '../contract/history-section.tsx';
import { WithdrawalReason } from '../contract/withdrawal-reason.tsx';
import { OtherTextsSection } from '../contract/other-texts-section.tsx';
import { SourcesSection } from '../contract/sources-section.tsx';
import {
  AbiSection,
  DownloadSection,
  JsonSection,
  SameCodeSection,
} from '../contract/sections.tsx';
import { describeMatch, describeUnproven, isClaim } from '../contract/verdict.ts';
import { formatTime } from '../format.ts';
import { definePage, type ViewProps } from '../page.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { MatchMark } from '../parts/match-mark.tsx';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import './contract.css';

/** A contract: the verdict first, then what it rests on, then the sources. */
export const page = definePage<ContractData>({
  title: ({ data: { contract }, request: { params } }) => {
    const name = contract.state === 'ready' ? contract.value.compilation?.name : undefined;
    return `${name ?? params['address'] ?? ''} on chain ${params['chain'] ?? ''} – Fullmatch`;
  },
  load: loadContract,
  status: ({ contract }) => {
    if (contract.state === 'ready') return 200;
    return [400, 404].includes(contract.status) ? contract.status : 503;
  },
  View: ContractView,
});

function ContractView(props: ViewProps<ContractData>): VNode {
  const { contract } = props.data;
  if (contract.state === 'ready') return <Verified {...props} facts={contract.value} />;
  return (
    <>
      <Heading {...props} />
      {contract.status === 404 ? (
        <>
          <NotVerified {...props} />
          <HistorySection events={props.data.events} />
        </>
      ) : contract.status === 400 ? (
        <div class="verdict bad">
          <p class="verdict-title">No contract can be named like this</p>
          <p>{contract.message}</p>
        </div>
      ) : (
        <>
          <div class="verdict unknown">
            <p class="verdict-title">Could not check, because the record could not be read</p>
            <p>Whether this contract is verified here is not known at the moment.</p>
          </div>
          <Failure what="The record" loaded={contract} />
        </>
      )}
    </>
  );
}

function Heading({
  data: { contract, chain },
  request: { params },
  context: { base },
}: ViewProps<ContractData>): VNode {
  const facts = contract.state === 'ready' ? contract.value : undefined;
  const chainId = params['chain'] ?? '';
  const address = facts?.address ?? params['address'] ?? '';
  return (
    <header class="contract-heading">
      <h1>{facts?.compilation ? <SafeText text={facts.compilation.name} /> : 'Contract'}</h1>
      <p class="contract-place">
        <code>{address}</code> <CopyButton text={address} what="the address" />
        <br />
        on{' '}
        <a href={`${base}registry/${encodeURIComponent(chainId)}`}>
          {chain.state === 'ready' ? <SafeText text={chain.value.name} /> : `chain ${chainId}`}
        </a>{' '}
        <span class="quiet">chain {chainId}</span>
      </p>
    </header>
  );
}

function NotVerified({
  data: { chain, events },
  request: { params },
  context: { base },
}: ViewProps<ContractData>): VNode {
  const chainId = params['chain'] ?? '';
  const withdrawal = withdrawalOf(events);
  if (withdrawal !== undefined) {
    return (
      <div class="verdict bad">
        <p class="verdict-title">Not verified here any more</p>
        <p>
          The match was withdrawn on {formatTime(withdrawal.at)}, because:{' '}
          <WithdrawalReason reason={withdrawal.reason ?? ''} />
        </p>
      </div>
    );
  }
  if (chain.state === 'ready' && !chain.value.supported) {
    return (
      <div class="verdict none">
        <p class="verdict-title">Not verified here, and it cannot be</p>
        <p>
          This service does not verify contracts of this chain. That says nothing about the
          contract. <a href={`${base}registry/${encodeURIComponent(chainId)}`}>See the chain</a>.
        </p>
      </div>
    );
  }
  const query = new URLSearchParams({ chain: chainId, address: params['address'] ?? '' });
  return (
    <div class="verdict none">
      <p class="verdict-title">Not verified here</p>
      <p>
        Nobody has brought sources of this contract to this service. That says nothing about the
        contract itself.
      </p>
      <p>
        <a class="button" href={`${base}verify?${query.toString()}`}>
          Verify it
        </a>
      </p>
    </div>
  );
}

function Verified(props: ViewProps<ContractData> & { readonly facts: ContractFacts }): VNode {
  const { facts, data } = props;
  const { match, compilation } = facts;
  const { unproven = [], origin } = data.evidence.state === 'ready' ? data.evidence.value : {};
  const verdict = match && describeMatch(match, origin);
  const hiddenSources = (facts.sources?.files ?? []).filter(({ hidden }) => hidden > 0).length;
  const hiddenIn = [
    ...facts.hiddenIn,
    ...(hiddenSources > 0 ? [hiddenSources === 1 ? 'a source' : `${hiddenSources} sources`] : []),
  ];
  return (
    <>
      <Heading {...props} />
      {verdict !== null && (
        <div class={`verdict ${isClaim(origin) ? 'claimed' : match}`}>
          <p class="verdict-title">
            <MatchMark match={match} isClaimed={isClaim(origin)} /> <span>{verdict.title}</span>
          </p>
          <p>{verdict.text}</p>
          {describeUnproven(unproven, compilation?.language).map((text) => (
            <p key={text}>{text}</p>
          ))}
          {facts.verifiedAt !== undefined && (
            <p class="quiet">
              Since {formatTime(facts.verifiedAt)}; read at {formatTime(readAtOf(data))}.
            </p>
          )}
        </div>
      )}
      {hiddenIn.length > 0 && (
        <div class="notice failure" role="note">
          <p>
            <strong>Characters that nobody sees</strong> stand in {hiddenIn.join(', ')}. They may
            make a text read otherwise than it is; here they are shown by their numbers.
          </p>
        </div>
      )}
      <EvidenceSection facts={facts} evidence={data.evidence} />
      <HistorySection events={data.events} />
      <OtherTextsSection
        facts={facts}
        evidence={data.evidence}
        base={props.context.base}
        chainId={props.request.params['chain'] ?? ''}
      />
      <SourcesSection facts={facts} loaded={data.sources} />
      <AbiSection facts={facts} />
      {compilation !== null && (
        <JsonSection title="Compiler settings" shown={compilation.settings} />
      )}
      {facts.metadata !== undefined && <JsonSection title="Metadata" shown={facts.metadata} />}
      <DownloadSection {...props} />
      <SameCodeSection {...props} />
    </>
  );
}

function readAtOf({ contract }: ContractData): string {
  return contract.state === 'ready' ? contract.readAt : contract.failedAt;
}
