import { type Endpoint, type RegisteredChain } from '../registry/registered-chain.ts';
import { hostOf, isSupportedEndpoint } from '../rpc/rpc-chain.ts';
import { type EndpointRank } from '../rpc/endpoint-order.ts';
import { updatePace, type Pace } from './block-pace.ts';
import { type ChainState, summariseStates } from './chain-state.ts';
import { type EndpointState, nextState, startState, type StateRecord } from './endpoint-state.ts';
import { type HeadAssessment, assessHead, type TimedHead } from './judge-head.ts';
import { addLatency, type Latencies, NO_LATENCIES } from './latency.ts';
import { type Capabilities, type Capability, type Probe } from './probe-endpoint.ts';

/** A probed endpoint: its state, last probe and capabilities. */
export interface TrackedEndpoint {
  readonly endpoint: Endpoint;
  /** The endpoint's label, with a number if another endpoint of the chain has the same. */
  readonly label: string;
  /** Endpoints of one host are probed one after another. */
  readonly host: string;
  readonly chain: TrackedChain;
  readonly record: StateRecord;
  /** Result of the last probe. */
  readonly probe?: Probe;
  readonly checkedAt?: number;
  readonly head?: TimedHead;
  readonly judgement?: HeadAssessment;
  readonly latencies: Latencies;
  readonly archive: Capability;
  readonly trace: Capability;
  /** When the last two were determined. */
  readonly capableAt?: number;
  /** Whether its host's budget is used up for today. */
  readonly budgetSpent: boolean;
}

/** Health of one probed chain. */
export interface TrackedChain {
  readonly chain: RegisteredChain;
  /** Whether it is probed lightly: few endpoints, long intervals, and nothing depends on the result. */
  readonly isLight: boolean;
  readonly pace: Pace;
  readonly state: ChainState;
  readonly since: number;
  readonly endpoints: readonly TrackedEndpoint[];
}

type Changing<T> = { -readonly [Key in keyof T]: T[Key] };
type OwnEndpoint = Changing<TrackedEndpoint>;
type OwnChain = Changing<Omit<TrackedChain, 'endpoints'>> & { endpoints: readonly OwnEndpoint[] };

/** Well-known chains have dozens of endpoints; probing more than this adds nothing. */
const MAX_PROBED_ENDPOINTS = 20;
/** Probed endpoints of a chain that is probed lightly. */
const LIGHT_ENDPOINTS = 3;

const RANKS: Readonly<Record<EndpointState, EndpointRank>> = {
  unknown: 'first',
  up: 'first',
  lagging: 'later',
  stalled: 'later',
  throttled: 'later',
  down: 'last',
  wrong_chain: 'last',
};

/** The first usable endpoints of a chain: a long list of public endpoints is not probed entirely. */
export function probedEndpoints(
  { endpoints }: RegisteredChain,
  isLight = false,
): readonly Endpoint[] {
  return endpoints
    .filter(isSupportedEndpoint)
    .slice(0, isLight ? LIGHT_ENDPOINTS : MAX_PROBED_ENDPOINTS);
}

/** A changed chain is a new object, so labels are computed once per object. */
const LABELS = new WeakMap<RegisteredChain, ReadonlyMap<Endpoint, string>>();

/** Unique labels of a chain's endpoints: two endpoints of one host have the same label in the registry. */
export function labelEndpoints(chain: RegisteredChain): ReadonlyMap<Endpoint, string> {
  const known = LABELS.get(chain);
  if (known !== undefined) return known;
  const counts = new Map<string, number>();
  const labels = new Map<Endpoint, string>();
  for (const endpoint of chain.endpoints) {
    const count = (counts.get(endpoint.label) ?? 0) + 1;
    counts.set(endpoint.label, count);
    labels.set(endpoint, count === 1 ? endpoint.label : `${endpoint.label}#${count}`);
  }
  LABELS.set(chain, labels);
  return labels;
}

/** Health of the probed chains, in the memory of this process. */
export class HealthBook {
  readonly #isLight: (chain: RegisteredChain) => boolean;
  #chains: ReadonlyMap<number, OwnChain> = new Map();
  #configuration: unknown;

  /** @param isLight whether a chain is probed lightly; called again when the chains or the configuration change */
  constructor(isLight: (chain: RegisteredChain) => boolean = () => false) {
    this.#isLight = isLight;
  }

  get chains(): readonly TrackedChain[] {
    return [...this.#chains.values()];
  }

  chain(chainId: number): TrackedChain | undefined {
    return this.#chains.get(chainId);
  }

  /** Preference for an endpoint; an unknown one ranks like one that is up. */
  rank(chainId: number, endpoint: Endpoint): EndpointRank {
    return RANKS[this.find(chainId, endpoint)?.record.state ?? 'unknown'];
  }

  /** State of a chain's endpoint by URL; undefined if it is not probed. */
  find(chainId: number, { url }: Endpoint): TrackedEndpoint | undefined {
    const tracked = this.#chains.get(chainId)?.endpoints;
    return tracked?.find(({ endpoint }) => endpoint.url.reveal() === url.reveal());
  }

  /**
   * Tracks exactly these chains; the state of an endpoint is kept while its chain and URL stay. A different
   * `configuration`, compared by identity, clears the verdict that an endpoint belongs to another chain.
   */
  track(chains: readonly RegisteredChain[], configuration: unknown, now: number): void {
    const fresh = configuration !== this.#configuration;
    this.#configuration = configuration;
    const entries = chains.map((chain) => {
      const { chainId } = chain.record;
      return [chainId, this.#trackChain(chain, this.#chains.get(chainId), fresh, now)] as const;
    });
    this.#chains = new Map(entries);
  }

  #trackChain(
    chain: RegisteredChain,
    known: OwnChain | undefined,
    fresh: boolean,
    now: number,
  ): OwnChain {
    const isLight = this.#isLight(chain);
    const own = known ?? { chain, isLight, pace: [], state: 'unknown', since: now, endpoints: [] };
    const before = new Map(own.endpoints.map((each) => [each.endpoint.url.reveal(), each]));
    const labels = labelEndpoints(chain);
    Object.assign(own, { chain, isLight });
    own.endpoints = probedEndpoints(chain, isLight).map((endpoint) => {
      const label = labels.get(endpoint) ?? endpoint.label;
      const earlier = before.get(endpoint.url.reveal());
      const tracked: OwnEndpoint = earlier ?? {
        endpoint,
        label,
        host: hostOf(endpoint),
        chain: own,
        record: startState(now),
        latencies: NO_LATENCIES,
        archive: 'unknown',
        trace: 'unknown',
        budgetSpent: false,
      };
      Object.assign(tracked, { endpoint, label });
      if (fresh && tracked.record.state === 'wrong_chain') {
        tracked.record = startState(now);
        delete tracked.probe;
      }
      return tracked;
    });
    summarise(own, now);
    return own;
  }

  /** Records a probe of an endpoint; returns whether its state changed. */
  note(tracked: TrackedEndpoint, probe: Probe, now: number): boolean {
    const own = this.#own(tracked);
    if (own === undefined) return false;
    const before = own.record.state;
    own.probe = probe;
    own.checkedAt = now;
    own.budgetSpent = false;
    const verdict = probe.kind === 'head' ? this.#noteHead(own, probe) : verdictOf(probe);
    own.record = nextState(own.record, verdict, now);
    summarise(own.chain, now);
    return own.record.state !== before;
  }

  /** Records the capabilities of an endpoint. Unknown ones keep their previous value. */
  noteCapabilities(tracked: TrackedEndpoint, found: Capabilities, now: number): void {
    const own = this.#own(tracked);
    if (own === undefined) return;
    own.capableAt = now;
    if (found.archive !== 'unknown') own.archive = found.archive;
    if (found.trace !== 'unknown') own.trace = found.trace;
    if (found.older === undefined || own.head === undefined) return;
    const chain = own.chain as OwnChain;
    chain.pace = updatePace(chain.pace, found.older, own.head);
  }

  /** Records that the budget of the endpoint's host is used up for today. */
  noteSpentBudget(tracked: TrackedEndpoint): void {
    const own = this.#own(tracked);
    if (own !== undefined) own.budgetSpent = true;
  }

  #noteHead(own: OwnEndpoint, { head, latencyMs }: Extract<Probe, { kind: 'head' }>) {
    const chain = own.chain as OwnChain;
    if (own.head !== undefined) chain.pace = updatePace(chain.pace, own.head, head);
    const peers = chain.endpoints.flatMap((peer) =>
      peer === own || peer.head === undefined || RANKS[peer.record.state] === 'last'
        ? []
        : [peer.head],
    );
    own.head = head;
    own.latencies = addLatency(own.latencies, latencyMs);
    own.judgement = assessHead(head, peers, { pace: chain.pace, local: chain.chain.local });
    return own.judgement.verdict;
  }

  /** The endpoint, unless it was dropped during the probe. */
  #own(tracked: TrackedEndpoint): OwnEndpoint | undefined {
    const { chainId } = tracked.chain.chain.record;
    return this.#chains.get(chainId)?.endpoints.find((own) => own === tracked);
  }
}

function verdictOf(probe: Exclude<Probe, { kind: 'head' }>): 'wrong_chain' | 'throttled' | 'bad' {
  return probe.kind === 'wrong_chain' ? 'wrong_chain' : probe.verdict;
}

function summarise(chain: OwnChain, now: number): void {
  const state = summariseStates(chain.endpoints.map(({ record }) => record.state));
  if (state === chain.state) return;
  chain.state = state;
  chain.since = now;
}
