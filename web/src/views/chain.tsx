import { type ComponentChildren, type VNode } from 'preact';
import { type Loaded } from '../api.ts';
import { type ChainData, findWarnings, loadChain } from '../chain/chain-data.ts';
import { Endpoints } from '../chain/endpoints.tsx';
import { MonitorSection } from '../chain/monitor-section.tsx';
import { DidYouMean } from '../chains/did-you-mean.tsx';
import { allOf, type CountsApart, verifiedOf } from '../counts-apart.ts';
import { formatAgo, formatCount, formatTime } from '../format.ts';
import { definePage, onlyInTheService, type PageContext, type ViewProps } from '../page.ts';
import { ContractList } from '../parts/contract-list.tsx';
import { ChainIcon } from '../parts/chain-icon.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { ShareBar } from '../parts/marks.tsx';
import { Failure, StaleCounts } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { TableRegion } from '../parts/table-region.tsx';
import { Trend } from '../parts/trend.tsx';
import { TextOrLink, Value } from '../parts/value.tsx';
import { type ChainCounts, type ChainDetails, type RegistryLine } from '../answers.ts';
import './chain.css';
import { Fact } from '../parts/fact.tsx';

/** Page of a chain: its record with the origin of each field, its endpoints, counts and contracts. */
export const page = definePage<ChainData>({
  section: 'chains',
  title: ({ data: { details }, request }) =>
    details.state === 'ready' ? details.value.record.name : (request.params['ref'] ?? ''),
  card: ({ data: { details } }) =>
    details.state === 'ready' ? `card/${details.value.record.chainId}.png` : undefined,
  load: import.meta.env.SSR
    ? (api, { params }) => loadChain(api, params['ref'] ?? '')
    : onlyInTheService,
  status: ({ details }) => (details.state === 'failed' ? details.status || 503 : 200),
  View: ChainView,
});

function ChainView({ data, context, request }: ViewProps<ChainData>): VNode {
  const { details, nearest, rest } = data;
  if (details.state === 'failed' || rest === undefined) {
    const reference = request.params['ref'] ?? '';
    return (
      <NoChain details={details} nearest={nearest} reference={reference} base={context.base} />
    );
  }
  const { record, hasIcon } = details.value;
  const health = rest.health.state === 'ready' ? rest.health.value : undefined;
  const warnings = findWarnings(details.value, health);
  return (
    <>
      <p class="above-title">
        <a href={`${context.base}registry`}>Chains</a>
      </p>
      <h1>
        <ChainIcon chainId={record.chainId} hasIcon={hasIcon} base={context.base} />
        <SafeText text={record.name} />
      </h1>
      {warnings.length > 0 && (
        <div class="notice caution">
          <ul>
            {warnings.map(({ code, text }, index) => (
              <li key={index}>
                <SafeText text={text} />{' '}
                <code>
                  <SafeText text={code} />
                </code>
              </li>
            ))}
          </ul>
        </div>
      )}
      <Verdict record={record} counts={rest.counts} base={context.base} />
      <Facts details={details.value} />
      {(rest.counts.state === 'failed' || rest.counts.value !== null) && (
        <Section id="counts" title="Contracts">
          <StaleCounts health={rest.service} now={context.now} />
          {rest.counts.state === 'failed' ? (
            <Failure what="The counts" loaded={rest.counts} />
          ) : (
            rest.counts.value !== null && <Figures counts={rest.counts.value} now={context.now} />
          )}
          {rest.counts.state === 'ready' &&
            (rest.history.state === 'ready' ? (
              <Trend history={rest.history.value} fileName={`chain-${record.chainId}`} />
            ) : (
              <Failure what="The history" loaded={rest.history} />
            ))}
        </Section>
      )}
      {(rest.latest.state === 'failed' || rest.latest.value.length > 0) && (
        <Section id="latest" title="Latest contracts">
          {rest.latest.state === 'ready' ? (
            <ContractList
              contracts={rest.latest.value}
              caption="Latest contracts of this chain"
              context={context}
              withChain={false}
            />
          ) : (
            <Failure what="The latest contracts" loaded={rest.latest} />
          )}
          <p>
            <a href={`${context.base}contracts?chain=${record.chainId}`}>
              All contracts of this chain
            </a>
          </p>
        </Section>
      )}
      <MonitorSection monitor={rest.monitor} now={context.now} />
      <Section id="endpoints" title="Endpoints">
        {rest.health.state === 'ready' ? (
          <Endpoints health={rest.health.value} rpc={record.rpc} now={context.now} />
        ) : (
          <Failure what="The health of the endpoints" loaded={rest.health} />
        )}
      </Section>
      <details class="raw">
        <summary>All fields and their sources</summary>
        <Fields details={details.value} />
      </details>
      <RawRecord record={record} base={context.base} />
    </>
  );
}

function Section({
  id,
  title,
  children,
}: {
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

function NoChain({
  details,
  nearest,
  reference,
  base,
}: {
  readonly details: Loaded<ChainDetails>;
  readonly nearest: readonly RegistryLine[];
  readonly reference: string;
  readonly base: string;
}): VNode {
  const isThere = details.state === 'ready' || details.status === 0 || details.status >= 500;
  if (isThere) {
    return (
      <>
        <h1>A chain</h1>
        {details.state === 'failed' && <Failure what="The chain" loaded={details} />}
      </>
    );
  }
  return (
    <>
      <h1>
        {details.status === 409 ? 'Several chains are named' : 'No chain'} “
        <SafeText text={reference.slice(0, 100)} />”
      </h1>
      <p>
        <SafeText text={details.message} /> <code>{details.code}</code>
      </p>
      <DidYouMean chains={nearest} base={base} />
      <p>
        <a class="button" href={`${base}registry?q=${encodeURIComponent(reference.slice(0, 100))}`}>
          Search the chains for it
        </a>
      </p>
      {details.code === 'chain_not_found' && <HowToAdd reference={reference} />}
    </>
  );
}

/** Configuration that adds such a chain. */
function HowToAdd({ reference }: { readonly reference: string }): VNode {
  const chainId = /^[1-9]\d{0,15}$/.test(reference) ? reference : '42424242';
  return (
    <section aria-labelledby="add">
      <h2 id="add">How a chain is added</h2>
      <p>
        The operator of this service adds it to <code>fullmatch.yaml</code> and applies it with{' '}
        <code>fullmatch reload</code>:
      </p>
      <pre tabIndex={0} role="region" aria-label="Example of the configuration">
        {`chains:\n  ${chainId}:\n    name: The name of the chain\n    rpc: [https://rpc.example.org]`}
      </pre>
    </section>
  );
}

function Facts({ details: { record, testnet, local } }: { readonly details: ChainDetails }): VNode {
  const { chainId, shortName, nativeCurrency, status, infoURL, explorers = [] } = record;
  return (
    <dl class="facts">
      <Fact name="Chain id">
        <span class="id">{chainId}</span> <CopyButton text={String(chainId)} what="the chain id" />{' '}
        <span class="quiet">
          0x{chainId.toString(16)}, eip155:{chainId}
        </span>
      </Fact>
      {shortName !== undefined && (
        <Fact name="Short name">
          <SafeText text={shortName} />
        </Fact>
      )}
      {nativeCurrency !== undefined && (
        <Fact name="Currency">
          <SafeText text={nativeCurrency.name} /> (<SafeText text={nativeCurrency.symbol} />
          ), {nativeCurrency.decimals} decimals
        </Fact>
      )}
      <Fact name="Kind">
        {testnet ? 'testnet' : 'mainnet'}
        {local && ', local'}
        {status !== undefined && `, ${status}`}
      </Fact>
      {infoURL !== undefined && (
        <Fact name="Site">
          <TextOrLink text={infoURL} />
        </Fact>
      )}
      {explorers.length > 0 && (
        <Fact name="Explorers">
          {explorers.map(({ name, url }, index) => (
            <span key={index}>
              {index > 0 && ', '}
              <TextOrLink text={url} name={name} />
            </span>
          ))}
        </Fact>
      )}
    </dl>
  );
}

/** One-line verdict: whether contracts of the chain can be verified here, and how many there are. */
function Verdict({
  record: { chainId, supported, monitored },
  counts,
  base,
}: {
  readonly record: ChainDetails['record'];
  readonly counts: Loaded<ChainCounts | null>;
  readonly base: string;
}): VNode {
  const known = (counts.state === 'ready' && counts.value) || NO_COUNTS;
  const contracts = allOf(known);
  const verified = describeCounts(known);
  return supported ? (
    <p class="lead">
      {verified}
      Contracts of this chain can be verified here
      {monitored && '; new ones are verified automatically where their sources are available'}.{' '}
      <a href={`${base}verify?chain=${chainId}`}>Verify a contract</a>
    </p>
  ) : (
    <p class="lead">
      {verified}
      {contracts > 0 ? 'New contracts' : 'Contracts of this chain'} cannot be verified here, because
      the chain is not configured. The operator can enable it under <code>chains.{chainId}</code> in
      fullmatch.yaml.
    </p>
  );
}

const NO_COUNTS = { full: 0, partial: 0, claimed: 0 };

/** The contracts verified here and, separately, the claims. */
function describeCounts(counts: CountsApart): string {
  const sentence = (count: number, one: string, more: string): string =>
    count === 0 ? '' : `${formatCount(count)} ${count === 1 ? one : more}. `;
  return (
    sentence(verifiedOf(counts), 'verified contract', 'verified contracts') +
    sentence(counts.claimed, 'claim of another service', 'claims of other services')
  );
}

function Figures({
  counts: { full, partial, claimed, firstVerifiedAt, lastVerifiedAt },
  now,
}: {
  readonly counts: ChainCounts;
  readonly now: PageContext['now'];
}): VNode {
  return (
    <dl class="figures">
      <div>
        <dt>Full matches</dt>
        <dd>{formatCount(full)}</dd>
      </div>
      <div>
        <dt>Partial matches</dt>
        <dd>{formatCount(partial)}</dd>
      </div>
      {claimed > 0 && (
        <div>
          <dt>Claims</dt>
          <dd>{formatCount(claimed)}</dd>
          <dd class="meaning">reported by another service, not checked here</dd>
        </div>
      )}
      <div>
        <dt>Share of full</dt>
        <dd>
          <ShareBar {...{ full, partial }} />
        </dd>
      </div>
      {lastVerifiedAt !== null && (full + partial > 0 || claimed === 0) && (
        <div>
          <dt>Last verified</dt>
          <dd>
            <time dateTime={lastVerifiedAt}>{formatAgo(lastVerifiedAt, now)}</time>
          </dd>
          {firstVerifiedAt !== null && (
            <dd class="meaning">First one {formatTime(firstVerifiedAt)}</dd>
          )}
        </div>
      )}
    </dl>
  );
}

function Fields({ details: { record, origins } }: { readonly details: ChainDetails }): VNode {
  return (
    <TableRegion label="Fields of the chain record">
      <table class="fields">
        <caption class="unseen">Fields of the chain record and their sources</caption>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Value</th>
            <th scope="col">Origin</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(record).map(([field, value]: [string, unknown]) => (
            <tr key={field}>
              <th scope="row">
                <code>{field}</code>
              </th>
              <td>
                <Value value={value} />
              </td>
              <td class="quiet">{origins[field] ?? ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}

function RawRecord({
  record,
  base,
}: {
  readonly record: ChainDetails['record'];
  readonly base: string;
}): VNode {
  const text = JSON.stringify(record, null, 2);
  return (
    <details class="raw">
      <summary>The record as JSON</summary>
      <p>
        <a href={`${base}chains/${record.chainId}`}>/chains/{record.chainId}</a>{' '}
        <CopyButton text={text} what="the record" />
      </p>
      <pre tabIndex={0} role="region" aria-label="The record as JSON">
        {text}
      </pre>
    </details>
  );
}
