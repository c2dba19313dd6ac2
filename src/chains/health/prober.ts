import { type Logger } from '../../log.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type EndpointProber } from '../rpc/rpc-client.ts';
import { medianBlockSeconds } from './block-pace.ts';
import { type HealthBook, type TrackedEndpoint } from './health-book.ts';
import { DailyBudget, REQUESTS_PER_PROBE, spacingMs, untilNextDay } from './probe-schedule.ts';
import { type ProbedEndpoint, probeCapabilities, probeEndpoint } from './probe-endpoint.ts';
import { DOWN_AFTER, type StateRecord } from './endpoint-state.ts';

/** Dependencies of a prober. */
export interface ProberDependencies {
  readonly rpc: EndpointProber;
  /** The chains to probe now. */
  readonly chains: () => readonly RegisteredChain[];
  /** Their configuration: another object means another configuration. */
  readonly configuration: () => unknown;
  readonly book: HealthBook;
  /** Requests of each host per day, if they are counted together with others. */
  readonly budget?: DailyBudget;
}

export interface ProberOptions {
  /** Mean milliseconds between two probes of an endpoint. */
  readonly everyMs: number;
  /** The same for a lightly probed chain; half an hour by default. */
  readonly lightEveryMs?: number;
  /** Daily request budget of a host (UTC days). */
  readonly dailyBudget: number;
  /** Timeout of one request in milliseconds; 10,000 by default. */
  readonly deadlineMs?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Milliseconds of a monotonic clock. */
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

/** An endpoint's capabilities change when its operator changes it. */
const CAPABILITIES_EVERY_MS = 86_400_000;
/** Maximum delay of a first probe. */
const FIRST_WITHIN_MS = 5000;
/** Factor by which a lightly probed chain is probed more often until its state is settled. */
const LIGHT_HASTE = 30;
/** How soon a new configuration is noticed. */
const POLL_EVERY_MS = 2000;
/** Minimum pause between two checks for due endpoints. */
const MIN_PAUSE_MS = 20;

/** Whether consecutive verdicts are being counted. */
function isUndecided({ state, goods, bads }: StateRecord): boolean {
  return state === 'unknown' || (state !== 'up' && goods > 0) || (state !== 'down' && bads > 0);
}

/** Probes the endpoints of chains when they are due, those of one host one after another, and records the results. */
export class Prober {
  readonly #parts: ProberDependencies;
  readonly #options: ProberOptions & typeof DEFAULTS;
  readonly #log: Logger;
  readonly #budget: DailyBudget;
  readonly #ending = new AbortController();
  /** When an endpoint is due; new ones are absent. */
  readonly #due = new WeakMap<TrackedEndpoint, number>();
  /** Running probes by host. */
  readonly #running = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #seen: { chains: readonly RegisteredChain[]; configuration: unknown } | undefined;

  constructor(parts: ProberDependencies, options: ProberOptions, log: Logger) {
    this.#parts = parts;
    this.#options = { ...DEFAULTS, ...options };
    this.#log = log;
    this.#budget = parts.budget ?? new DailyBudget(options.dailyBudget);
  }

  /** Starts probing, until {@link close}. */
  start(): void {
    this.refreshChains();
    this.#arm();
  }

  /** Updates the set of chains and endpoints. */
  refreshChains(): void {
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
      // An endpoint that belonged to another chain is probed again at once: the configuration has changed.
      const idle = due === Infinity && tracked.record.state !== 'wrong_chain';
      if (due === undefined || idle) this.#due.set(tracked, this.#options.now() + waitMs);
    }
  }

  /** Probes what is due on idle hosts, and waits for the end. */
  async probeDue(): Promise<void> {
    this.refreshChains();
    const now = this.#options.now();
    const due = this.#endpoints().filter((tracked) => (this.#due.get(tracked) ?? 0) <= now);
    await this.#probeByHost(due);
  }

  /** Probes every endpoint repeatedly until each state is settled. */
  async settle(): Promise<void> {
    this.refreshChains();
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
    const waitMs = Math.min(Math.max(next - this.#options.now(), MIN_PAUSE_MS), POLL_EVERY_MS);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#wake(), waitMs).unref();
  }

  /** A slow host delays no other: the next check does not wait for its probes. */
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
      const learnsPace = medianBlockSeconds(tracked.chain.pace) === undefined;
      const found = await probeCapabilities(probed, probe.head, learnsPace);
      book.noteCapabilities(tracked, found, now());
    }
    this.#due.set(tracked, now() + this.#spacing(tracked));
  }

  /** Whether the endpoint's capabilities are due for a check. */
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
