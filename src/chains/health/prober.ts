import { type Logger } from '../../log.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type EndpointProber } from '../rpc/rpc-client.ts';
import { usualSeconds } from './block-pace.ts';
import { type HealthBook, type TrackedEndpoint } from './health-book.ts';
import { DailyBudget, REQUESTS_PER_PROBE, spacingMs, untilNextDay } from './probe-schedule.ts';
import { type ProbedEndpoint, probeCapabilities, probeEndpoint } from './probe-endpoint.ts';
import { DOWN_AFTER, type StateRecord } from './endpoint-state.ts';

/** What a prober works on. */
export interface ProberParts {
  readonly rpc: EndpointProber;
  /** The chains to be probed, as they are now. */
  readonly chains: () => readonly RegisteredChain[];
  /** The configuration that they come from: another object means another configuration. */
  readonly configuration: () => unknown;
  readonly book: HealthBook;
  /** The requests of each host in a day, where they are counted together with others'. */
  readonly budget?: DailyBudget;
}

export interface ProberOptions {
  /** Milliseconds between two probes of an endpoint, more or less. */
  readonly everyMs: number;
  /** The same for a chain that is probed lightly. Default half an hour. */
  readonly lightEveryMs?: number;
  /** Requests that one host may be sent in a day of UTC. */
  readonly dailyBudget: number;
  /** Milliseconds for one request. Default 10,000. */
  readonly deadlineMs?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Milliseconds of a clock that nobody sets. */
  readonly stopwatch?: () => number;
  readonly random?: () => number;
}

const DEFAULTS = {
  lightEveryMs: 1_800_000,
  deadlineMs: 10_000,
  now: Date.now,
  stopwatch: () => performance.now(),
  random: Math.random,
};

/** What an endpoint offers changes when its operator changes it. */
const CAPABILITIES_EVERY_MS = 86_400_000;
/** A first probe does not wait longer than this. */
const FIRST_WITHIN_MS = 5000;
/** Until the state of a chain that is probed lightly is settled, it is probed so many times as often. */
const LIGHT_HASTE = 30;
/** How soon another configuration is seen. */
const LOOK_EVERY_MS = 2000;
/** Not sooner than this after the last look, whatever is due. */
const LOOK_AFTER_MS = 20;

/** Whether verdicts are being counted that may change the state. */
function isUndecided({ state, goods, bads }: StateRecord): boolean {
  return state === 'unknown' || (state !== 'up' && goods > 0) || (state !== 'down' && bads > 0);
}

/**
 * Probes the endpoints of chains, each when it is due, those of one host one after another, and writes down what it
 * finds.
 */
export class Prober {
  readonly #parts: ProberParts;
  readonly #options: ProberOptions & typeof DEFAULTS;
  readonly #log: Logger;
  readonly #budget: DailyBudget;
  readonly #ending = new AbortController();
  /** When an endpoint is due; a new one is not in it yet. */
  readonly #due = new WeakMap<TrackedEndpoint, number>();
  /** Running probes by host. */
  readonly #running = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #seen: { chains: readonly RegisteredChain[]; configuration: unknown } | undefined;

  constructor(parts: ProberParts, options: ProberOptions, log: Logger) {
    this.#parts = parts;
    this.#options = { ...DEFAULTS, ...options };
    this.#log = log;
    this.#budget = parts.budget ?? new DailyBudget(options.dailyBudget);
  }

  /** Begins to probe by itself, until {@link close}. */
  start(): void {
    this.look();
    this.#arm();
  }

  /** Looks which chains and endpoints there are now. */
  look(): void {
    const { book } = this.#parts;
    const chains = this.#parts.chains();
    const configuration = this.#parts.configuration();
    const seen = this.#seen;
    if (
      seen?.configuration === configuration &&
      seen?.chains.length === chains.length &&
      seen.chains.every((chain, index) => chain === chains[index])
    ) {
      return;
    }
    this.#seen = { chains, configuration };
    book.track(chains, configuration, this.#options.now());
    for (const tracked of this.#endpoints()) {
      const { everyMs } = this.#options;
      const within = tracked.chain.isLight
        ? this.#options.lightEveryMs / LIGHT_HASTE
        : Math.min(FIRST_WITHIN_MS, everyMs);
      const waitMs = this.#options.random() * within;
      const due = this.#due.get(tracked);
      // One of another chain until now is asked again at once: the configuration has changed.
      const idle = due === Infinity && tracked.record.state !== 'wrong_chain';
      if (due === undefined || idle) this.#due.set(tracked, this.#options.now() + waitMs);
    }
  }

  /** Probes what is due on hosts that are not being asked, and waits for the end of it. */
  async probeDue(): Promise<void> {
    this.look();
    const now = this.#options.now();
    const due = this.#endpoints().filter((tracked) => (this.#due.get(tracked) ?? 0) <= now);
    await this.#probeByHost(due);
  }

  /** Probes every endpoint again and again until each state is settled. */
  async settle(): Promise<void> {
    this.look();
    for (let round = 0; round < DOWN_AFTER; round += 1) {
      const open = this.#endpoints().filter(({ record }) => isUndecided(record));
      await this.#probeByHost(open);
    }
  }

  /** Ends the running probes. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#ending.abort(new Error('The prober was closed.'));
    await Promise.all(this.#running.values());
  }

  #endpoints(): readonly TrackedEndpoint[] {
    return this.#parts.book.chains.flatMap(({ endpoints }) => endpoints);
  }

  #arm(): void {
    if (this.#ending.signal.aborted) return;
    const idle = this.#endpoints().filter(({ host }) => !this.#running.has(host));
    const next = Math.min(Infinity, ...idle.map((tracked) => this.#due.get(tracked) ?? 0));
    const waitMs = Math.min(Math.max(next - this.#options.now(), LOOK_AFTER_MS), LOOK_EVERY_MS);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#wake(), waitMs).unref();
  }

  /** A slow host holds up no other: the next look does not wait for this one's probes. */
  #wake(): void {
    const done = this.probeDue().catch((error: unknown) => {
      this.#log.error({ event: 'probe_failed', err: error }, 'endpoints could not be probed');
    });
    void done.then(() => this.#arm());
    this.#arm();
  }

  async #probeByHost(endpoints: readonly TrackedEndpoint[]): Promise<void> {
    const byHost = new Map<string, TrackedEndpoint[]>();
    for (const tracked of endpoints) {
      if (this.#running.has(tracked.host)) continue;
      byHost.set(tracked.host, [...(byHost.get(tracked.host) ?? []), tracked]);
    }
    const hosts = [...byHost].map(([host, ofHost]) => {
      const work = this.#probeInTurn(ofHost).finally(() => this.#running.delete(host));
      this.#running.set(
        host,
        work.catch(() => undefined),
      );
      return work;
    });
    await Promise.all(hosts);
  }

  async #probeInTurn(endpoints: readonly TrackedEndpoint[]): Promise<void> {
    const { signal } = this.#ending;
    try {
      for (const tracked of endpoints) {
        signal.throwIfAborted();
        await this.#probe(tracked);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #probe(tracked: TrackedEndpoint): Promise<void> {
    const { book } = this.#parts;
    const { now } = this.#options;
    const { host } = tracked;
    if (this.#budget.left(host, now()) < REQUESTS_PER_PROBE) {
      book.noteSpentBudget(tracked);
      this.#due.set(
        tracked,
        now() + untilNextDay(now()) + this.#options.random() * FIRST_WITHIN_MS,
      );
      return;
    }
    const probed: ProbedEndpoint = {
      rpc: this.#parts.rpc,
      chain: tracked.chain.chain,
      endpoint: tracked.endpoint,
      deadlineMs: this.#options.deadlineMs,
      signal: this.#ending.signal,
      now,
      stopwatch: this.#options.stopwatch,
      onRequest: () => this.#budget.take(host, now()),
    };
    const before = tracked.record.state;
    const probe = await probeEndpoint(probed);
    const changed = book.note(tracked, probe, now());
    if (changed) this.#logChange(tracked, before);
    if (probe.kind === 'head' && this.#isCurious(tracked)) {
      const learnsPace = usualSeconds(tracked.chain.pace) === undefined;
      const found = await probeCapabilities(probed, probe.head, learnsPace);
      book.noteCapabilities(tracked, found, now());
    }
    this.#due.set(tracked, now() + this.#spacing(tracked));
  }

  /** Whether it is time to find out what the endpoint offers. */
  #isCurious({ capableAt, host, chain }: TrackedEndpoint): boolean {
    if (chain.isLight) return false;
    const now = this.#options.now();
    const old = capableAt === undefined || now - capableAt >= CAPABILITIES_EVERY_MS;
    return old && this.#budget.left(host, now) > 2 * REQUESTS_PER_PROBE;
  }

  #spacing({ record, host, chain }: TrackedEndpoint): number {
    if (record.state === 'wrong_chain') return Infinity;
    const { everyMs, lightEveryMs, dailyBudget } = this.#options;
    const undecided = isUndecided(record);
    const lightMs = undecided ? lightEveryMs / LIGHT_HASTE : lightEveryMs;
    return spacingMs({
      everyMs: chain.isLight ? Math.max(everyMs, lightMs) : everyMs,
      dailyBudget,
      endpointsOfHost: this.#endpoints().filter((other) => other.host === host).length,
      undecided,
      chance: this.#options.random(),
    });
  }

  #logChange({ chain, label, record, probe }: TrackedEndpoint, before: string): void {
    const level = chain.isLight ? 'debug' : record.state === 'up' ? 'info' : 'warn';
    this.#log[level](
      {
        event: 'endpoint_state',
        chain_id: chain.chain.record.chainId,
        endpoint: label,
        from: before,
        to: record.state,
        ...(probe?.kind === 'fault' ? { reason: probe.reason } : {}),
      },
      'an endpoint changed its state',
    );
  }
}
