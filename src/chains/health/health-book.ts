import { type Endpoint, type RegisteredChain } from '../registry/registered-chain.ts';
import { hostOf, isAskable } from '../rpc/asked-chain.ts';
import { type EndpointRank } from '../rpc/endpoint-order.ts';
import { learnPace, type Pace } from './block-pace.ts';
import { type ChainState, summariseStates } from './chain-state.ts';
import { type EndpointState, nextState, startState, type StateRecord } from './endpoint-state.ts';
import { type HeadJudgement, judgeHead, type SeenHead } from './judge-head.ts';
import { addLatency, type Latencies, NO_LATENCIES } from './latency.ts';
import { type Capabilities, type Capability, type Probe } from './probe-endpoint.ts';

/** An endpoint under probing: its state, its last probe and its capabilities. */
export interface TrackedEndpoint {
  readonly endpoint: Endpoint;
  /** The endpoint's label, with a number where another endpoint of the chain has the same. */
  readonly label: string;
  /** Endpoints of one host are asked one after another. */
  readonly host: string;
  readonly chain: TrackedChain;
  readonly record: StateRecord;
  /** What the last probe found. */
  readonly probe?: Probe;
  readonly checkedAt?: number;
  readonly head?: SeenHead;
  readonly judgement?: HeadJudgement;
  readonly latencies: Latencies;
  readonly archive: Capability;
  readonly trace: Capability;
  /** When the last two were found out. */
  readonly capableAt?: number;
  /** Whether its host may be asked no more today. */
  readonly budgetSpent: boolean;
}

/** What is known about one probed chain. */
export interface TrackedChain {
  readonly chain: RegisteredChain;
  /** Whether it is probed lightly: few endpoints, seldom, and nothing depends on the outcome. */
  readonly isLight: boolean;
  readonly pace: Pace;
  readonly state: ChainState;
  readonly since: number;
  readonly endpoints: readonly TrackedEndpoint[];
}

type Changing<T> = { -readonly [Key in keyof T]: T[Key] };
type OwnEndpoint = Changing<TrackedEndpoint>;
type OwnChain = Changing<Omit<TrackedChain, 'endpoints'>> & { endpoints: readonly OwnEndpoint[] };

/** Well-known chains have dozens of endpoints; more than this tell nothing new. */
const MAX_PROBED_ENDPOINTS = 20;
/** Endpoints of a chain that is probed lightly. */
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

/** The first askable endpoints of a chain: a long list of public endpoints is not probed whole. */
export function probedEndpoints(
  { endpoints }: RegisteredChain,
  isLight = false,
): readonly Endpoint[] {
  return endpoints.filter(isAskable).slice(0, isLight ? LIGHT_ENDPOINTS : MAX_PROBED_ENDPOINTS);
}

/** A chain is another object after each change, so its labels are counted once. */
const LABELS = new WeakMap<RegisteredChain, ReadonlyMap<Endpoint, string>>();

/** Labels of a chain's endpoints, each once: two endpoints of one host have the same label in the registry. */
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

/** What is known about the probed chains, in the memory of this process. */
export class HealthBook {
  readonly #isLight: (chain: RegisteredChain) => boolean;
  #chains: ReadonlyMap<number, OwnChain> = new Map();
  #configuration: unknown;

  /** @param isLight whether a chain is probed lightly; asked again when the chains or the configuration change */
  constructor(isLight: (chain: RegisteredChain) => boolean = () => false) {
    this.#isLight = isLight;
  }

  get chains(): readonly TrackedChain[] {
    return [...this.#chains.values()];
  }

  chain(chainId: number): TrackedChain | undefined {
    return this.#chains.get(chainId);
  }

  /** How much an endpoint is wanted; one that nothing is known about is as good as one that is up. */
  rank(chainId: number, endpoint: Endpoint): EndpointRank {
    return RANKS[this.find(chainId, endpoint)?.record.state ?? 'unknown'];
  }

  /** What is known about an endpoint of a chain, told by its URL; undefined where it is not probed. */
  find(chainId: number, { url }: Endpoint): TrackedEndpoint | undefined {
    const tracked = this.#chains.get(chainId)?.endpoints;
    return tracked?.find(({ endpoint }) => endpoint.url.reveal() === url.reveal());
  }

  /**
   * Tracks these chains and no others; what is known about an endpoint stays while its chain and URL do. Another
   * `configuration`, told by its identity, ends the verdict that an endpoint belongs to another chain.
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

  /** Takes what a probe found of an endpoint, and says whether its state changed. */
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

  /** Takes what an endpoint offers. What could not be found out now stays as it was. */
  noteCapabilities(tracked: TrackedEndpoint, found: Capabilities, now: number): void {
    const own = this.#own(tracked);
    if (own === undefined) return;
    own.capableAt = now;
    if (found.archive !== 'unknown') own.archive = found.archive;
    if (found.trace !== 'unknown') own.trace = found.trace;
    if (found.older === undefined || own.head === undefined) return;
    const chain = own.chain as OwnChain;
    chain.pace = learnPace(chain.pace, found.older, own.head);
  }

  /** Takes that the host of an endpoint may be asked no more today. */
  noteSpentBudget(tracked: TrackedEndpoint): void {
    const own = this.#own(tracked);
    if (own !== undefined) own.budgetSpent = true;
  }

  #noteHead(own: OwnEndpoint, { head, latencyMs }: Extract<Probe, { kind: 'head' }>) {
    const chain = own.chain as OwnChain;
    if (own.head !== undefined) chain.pace = learnPace(chain.pace, own.head, head);
    const peers = chain.endpoints.flatMap((peer) =>
      peer === own || peer.head === undefined || RANKS[peer.record.state] === 'last'
        ? []
        : [peer.head],
    );
    own.head = head;
    own.latencies = addLatency(own.latencies, latencyMs);
    own.judgement = judgeHead(head, peers, { pace: chain.pace, local: chain.chain.local });
    return own.judgement.verdict;
  }

  /** The endpoint, unless it was dropped while it was asked. */
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
