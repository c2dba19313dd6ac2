import { type VNode } from 'preact';
import { type Api, type Loaded } from '../api.ts';
import { type CountsApart, takeApart } from '../counts-apart.ts';
import { formatChains, formatCount, formatTime } from '../format.ts';
import { definePage, onlyInTheService, type ViewProps } from '../page.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Fact } from '../parts/fact.tsx';
import { MatchShape } from '../parts/match-mark.tsx';
import { Failure } from '../parts/notices.tsx';
import { type ContractPage, type StatisticsOverview } from '../answers.ts';
import './counts.css';

interface CountsData {
  readonly totals: Loaded<{
    readonly totals: CountsApart & Pick<StatisticsOverview['totals'], 'chains'>;
    readonly asOf: string;
  }>;
  /** A contract of this instance for the examples; a made-up one if there is none. */
  readonly example: {
    readonly chainId: number;
    readonly address: string;
    readonly stored: boolean;
  };
  /** A chain of the registry, which need not be the contract's. */
  readonly chainId: number | undefined;
}

/** Methodology: definitions, rules, and the API with examples for this instance. */
export const page = definePage<CountsData>({
  section: 'counts',
  title: () => 'Methodology',
  load: import.meta.env.SSR ? load : onlyInTheService,
  View: CountsView,
});

const MADE_UP = {
  chainId: 1,
  address: '0x00000000219ab540356cBB839Cbe05303d7705Fa',
  stored: false,
} as const;

async function load(api: Api): Promise<CountsData> {
  const [statistics, contracts, chains] = await Promise.all([
    api.get<StatisticsOverview>('v1/statistics'),
    api.get<ContractPage>('v1/contracts?limit=1'),
    api.get<{ readonly results: readonly { readonly chainId: number }[] }>(
      'v1/chains?fields=chainId&limit=1',
    ),
  ]);
  const first = contracts.state === 'ready' ? contracts.value.results[0] : undefined;
  const example = first
    ? { chainId: first.chainId, address: first.address, stored: true }
    : MADE_UP;
  const chainId = chains.state === 'ready' ? chains.value.results[0]?.chainId : undefined;
  if (statistics.state === 'failed') return { totals: statistics, example, chainId };
  const { totals, asOf } = statistics.value;
  return {
    totals: { ...statistics, value: { totals: takeApart(totals), asOf } },
    example,
    chainId,
  };
}

function CountsView({ data, context }: ViewProps<CountsData>): VNode {
  const { apiUrl = '', repositoryUrl } = context;
  const { totals, example, chainId } = data;
  return (
    <div class="prose">
      <h1>Methodology</h1>
      <p class="lead">What a match proves, what is counted, and how to check it yourself.</p>
      {totals.state === 'failed' ? (
        <Failure what="The counts" loaded={totals} />
      ) : (
        <p>
          At {formatTime(totals.value.asOf)} there were{' '}
          <strong>{formatCount(totals.value.totals.full)}</strong> full and{' '}
          <strong>{formatCount(totals.value.totals.partial)}</strong> partial matches verified here
          {totals.value.totals.claimed > 0 && (
            <>
              , and <strong>{formatCount(totals.value.totals.claimed)}</strong> claims of other
              services
            </>
          )}
          , on {formatChains(totals.value.totals.chains)}.
        </p>
      )}
      <Picture />
      <Definitions />
      <Rules base={context.base} />
      <h2>API</h2>
      <p>
        These commands query this service. <a href={`${context.base}docs`}>The API</a> has
        everything else.
      </p>
      <Command about="All counts, by chain, origin and compiler" url={`${apiUrl}/v1/statistics`} />
      <Command
        about="The counts of chain 1 over time"
        url={`${apiUrl}/v1/statistics/history?chain=1&interval=week`}
      />
      <Command about="Every chain of the registry" url={`${apiUrl}/chains`} />
      {chainId !== undefined && (
        <Command
          about="A chain, with the origin of each field"
          url={`${apiUrl}/v1/chains/${chainId}`}
        />
      )}
      <Command
        about="The newest full matches of a chain"
        url={`${apiUrl}/v1/contracts?chain=${example.chainId}&match=full&limit=5`}
      />
      <Command
        about={
          example.stored
            ? 'A contract with both of its matches'
            : 'A contract with both of its matches (nothing is verified here yet, so the answer is 404)'
        }
        url={`${apiUrl}/v2/contract/${example.chainId}/${example.address}`}
      />
      <Command
        about="Matches as they are stored, until you stop it"
        url={`${apiUrl}/v1/events`}
        options="-N "
      />
      {repositoryUrl === undefined ? (
        <p class="quiet">
          The repository host, which serves <code>/stats.json</code>, is switched off in this
          process.
        </p>
      ) : (
        <Command
          about="Verified contracts by chain, the published document"
          url={`${repositoryUrl}/stats.json`}
        />
      )}
    </div>
  );
}

const OUTCOMES = [
  {
    kind: 'full',
    name: 'Full match',
    about: 'Every byte is identical, including the hash of sources and settings at the end.',
  },
  {
    kind: 'partial',
    name: 'Partial match',
    about: 'The instructions are identical. The hash is not: names and comments may differ.',
  },
  {
    kind: 'none',
    name: 'No match',
    about: 'An instruction differs: these are not the sources of this contract.',
  },
] as const;

/** Diagram of the comparison: the two bytecodes above each other. */
function Picture(): VNode {
  return (
    <figure class="outcomes">
      <figcaption>
        The sources are compiled again. The result (above) is compared with the code on chain
        (below).
      </figcaption>
      <ul class="plain">
        {OUTCOMES.map(({ kind, name, about }) => (
          <li key={kind}>
            <strong class={`match ${kind}`}>
              <MatchShape kind={kind} size={18} /> {name}
            </strong>
            <svg viewBox="0 0 240 34" aria-hidden="true">
              <rect class="code" y="1" width="190" height="14" rx="2" />
              <rect class="hash" x="194" y="1" width="46" height="14" rx="2" />
              <rect class="code" y="19" width="190" height="14" rx="2" />
              {kind === 'none' && <rect class="other" x="84" y="19" width="30" height="14" />}
              <rect
                class={kind === 'full' ? 'hash' : 'hash other'}
                x="194"
                y="19"
                width="46"
                height="14"
                rx="2"
              />
            </svg>
            <span>{about}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

function Definitions(): VNode {
  return (
    <>
      <h2>What a match proves</h2>
      <dl class="terms">
        <Fact name="Full match">
          The recompiled code equals the code on chain byte for byte, including the metadata hash
          that the compiler put into it. The sources are therefore the author’s own, with their
          names, comments and paths.
        </Fact>
        <Fact name="Partial match">
          The code is equal except for the metadata hash, or contains no such hash. It behaves the
          same; names, comments and paths are not proven.
        </Fact>
        <Fact name="No match">Anything else. It is not stored and not counted.</Fact>
        <Fact name="Runtime and creation">
          Runtime and creation code are compared separately. The match of the contract is the better
          of the two.
        </Fact>
        <Fact name="Origin">
          Verified by: <em>verified</em> is a match made by this service, <em>imported</em> one that
          was imported from another service, <em>monitored</em> one found by monitoring a chain.
        </Fact>
        <Fact name="Claim">
          An imported match that was not verified here. Claims are counted apart: no figure, chart
          or list shows them as verified. <code>/stats.json</code> and <code>full</code> and{' '}
          <code>partial</code> of the API count every contract; <code>claimed</code> next to them
          says how many of these are claims.
        </Fact>
        <Fact name="Unique bytecodes">
          Unique runtime bytecodes ever verified. Bytecode deployed a thousand times counts once;
          contracts whose bytecode is unknown, such as some imported ones, are not counted.
        </Fact>
      </dl>
    </>
  );
}

function Rules({ base }: { readonly base: string }): VNode {
  return (
    <>
      <h2>What is counted</h2>
      <ol>
        <li>An address on a chain counts once, by its best current match.</li>
        <li>
          A match can be upgraded from partial to full, never downgraded. Verifying again with other
          sources of the same match does not change the counts.
        </li>
        <li>
          A count falls only when a match is withdrawn. The event log keeps it, with the reason,
          which <a href={`${base}statistics`}>the statistics</a> show.
        </li>
        <li>
          The transaction that stores a match also writes its event and changes the counts. So the
          counts always equal the stored contracts.
        </li>
        <li>
          All counts of a response come from one snapshot; the response names its time and its last
          event.
        </li>
        <li>
          <code>fullmatch recount</code> recounts everything from the event log and compares.
        </li>
        <li>
          Changes over 24 hours and 7 days use whole hours, the history whole days, both in UTC.
        </li>
      </ol>
    </>
  );
}

function Command({
  about,
  url,
  options = '',
}: {
  readonly about: string;
  readonly url: string;
  readonly options?: string;
}): VNode {
  const command = `curl -s ${options}'${url}'`;
  return (
    <div class="command">
      <p>
        {about} <CopyButton text={command} what={`the command: ${about}`} />
      </p>
      <pre tabIndex={0} role="region" aria-label={about}>
        {command}
      </pre>
    </div>
  );
}
