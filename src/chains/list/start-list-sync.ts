import { FullmatchError, messageOf } from '../../errors.ts';
import { repeatUntilClosed, type RepeatedWork } from '../../lib/repeat.ts';
import { type Logger } from '../../log.ts';
import { type Database } from '../../store/database.ts';
import { type ChainList } from './chain-list.ts';
import { readCurrentSnapshot, readSnapshotList } from './snapshots.ts';
import { syncList, type SyncOutcome, type SyncDependencies } from './sync-list.ts';
import {
  CHAIN_LIST_CHANNEL,
  claimAttempt,
  readSyncState,
  recordAttempt,
  releaseAttempt,
  type SyncFailure,
  type SyncState,
} from './sync-state.ts';

/** Timing of the sync, in milliseconds. */
export interface ListSyncTimes {
  /** Between two attempts of all processes together. */
  readonly everyMs: number;
  /** After a failed attempt; doubled with each further one, up to `everyMs` (60,000). */
  readonly retryMs?: number;
  /** How often this process checks whether an attempt is due or another process accepted a list (2,000). */
  readonly pollMs?: number;
  /** Timeout for one source (60,000). */
  readonly deadlineMs?: number;
}

/** The sync of this process, which shares attempts with all processes of the database. */
export interface ListSync {
  /** Its state at this process's last check; undefined before. */
  readonly state: SyncState | undefined;
  /** Aborts the current attempt, which another process then makes. */
  close(): Promise<void>;
}

/** Dependencies of a running sync, which publishes what any process accepted. */
export interface ListSyncDependencies extends SyncDependencies {
  /** Serves the list, or throws and leaves everything unchanged. */
  readonly publish: (list: ChainList) => Promise<void>;
  /** The list that is served at the start. */
  readonly served: ChainList;
}

const RETRY_MS = 60_000;
const POLL_MS = 2_000;
const DEADLINE_MS = 60_000;
/** In addition to the deadlines of the sources: for reading, judging and storing. */
const LEASE_MARGIN_MS = 60_000;

/**
 * The list to serve at startup: the newest snapshot of the sources, else the fallback. Snapshots of sources
 * that are no longer configured are not served.
 */
export async function readServedList(
  database: Database,
  sources: readonly string[],
  fallback: ChainList,
  log: Logger,
): Promise<ChainList> {
  const current = await readCurrentSnapshot(database, sources);
  if (current === undefined) return fallback;
  try {
    return await readSnapshotList(database, current);
  } catch (error) {
    log.error({ event: 'chain_list_snapshot_unreadable', error: messageOf(error) }, 'not served');
    return fallback;
  }
}

/**
 * Keeps the served list current: fetches from the sources when due, and serves what any process of the
 * database accepted.
 */
export async function startListSync(
  parts: ListSyncDependencies,
  sources: readonly string[],
  times: ListSyncTimes,
  log: Logger,
): Promise<ListSync> {
  const sync = new RunningListSync(parts, sources, times, log);
  if (sources.length > 0) await sync.start();
  return sync;
}

class RunningListSync implements ListSync {
  readonly #parts: ListSyncDependencies;
  readonly #sources: readonly string[];
  readonly #times: Required<ListSyncTimes>;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  #servedSnapshot: number | undefined;
  /** Why this process cannot publish the newest list. */
  #unserved: SyncFailure | undefined;
  #state: SyncState | undefined;
  /** Error that stops this process from working, such as a failure of the store; cleared by a successful run. */
  #fault: SyncFailure | undefined;
  #first = true;
  #turns: RepeatedWork | undefined;
  #stopListening: (() => Promise<void>) | undefined;
  /** The last logged failure, so that it is logged once and not on every run. */
  #lastLogged: string | undefined;

  constructor(
    parts: ListSyncDependencies,
    sources: readonly string[],
    times: ListSyncTimes,
    log: Logger,
  ) {
    const { everyMs } = times;
    this.#parts = parts;
    this.#sources = sources;
    this.#times = {
      retryMs: Math.min(RETRY_MS, everyMs),
      pollMs: Math.min(POLL_MS, everyMs),
      deadlineMs: DEADLINE_MS,
      ...times,
    };
    this.#log = log;
    this.#servedSnapshot = parts.served.snapshotId;
  }

  get state(): SyncState | undefined {
    const failure = this.#state?.failure ?? this.#fault;
    return failure === undefined ? this.#state : { due: false, ...this.#state, failure };
  }

  async start(): Promise<void> {
    const { database } = this.#parts;
    const syncNow = (): void => this.#turns?.wake();
    this.#stopListening = await database.listen(CHAIN_LIST_CHANNEL, syncNow);
    // A failed turn records its fault itself.
    const ignore = (): void => undefined;
    const { pollMs } = this.#times;
    this.#turns = repeatUntilClosed(() => this.#takeTurn(), { retryMs: pollMs, onFailure: ignore });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#turns?.close(), this.#stopListening?.()]);
  }

  /** @returns the pause before the next turn, in milliseconds */
  async #takeTurn(): Promise<number> {
    const { pollMs } = this.#times;
    try {
      await this.#runTurn();
      this.#fault = undefined;
    } catch (error) {
      if (this.#closing.signal.aborted) return pollMs;
      this.#fault = failureOf(error, messageOf(error), this.#fault);
      this.#say('chain_list_sync_broken', messageOf(error));
    }
    return pollMs;
  }

  async #runTurn(): Promise<void> {
    await this.#follow();
    if (this.#closing.signal.aborted) return;
    const { database } = this.#parts;
    const due = this.#state?.due === true || this.#first;
    const lease = {
      leaseMs: this.#sources.length * this.#times.deadlineMs + LEASE_MARGIN_MS,
      first: this.#first,
    };
    if (due && (await claimAttempt(database, this.#sources, this.#times, lease))) {
      await this.#attempt();
      await this.#follow();
    }
    this.#first = false;
  }

  /** Serves the newest snapshot, also if another process accepted it. */
  async #follow(): Promise<void> {
    const state = await readSyncState(this.#parts.database, this.#sources, this.#times);
    try {
      await this.#serve(state);
      this.#unserved = undefined;
      // Last, so that the list is served before the state reports it.
      this.#state = state;
    } catch (error) {
      const message = `A newer chain list cannot be published: ${messageOf(error)}`;
      this.#unserved = failureOf(error, message, this.#unserved);
      this.#state = { ...state, failure: state.failure ?? this.#unserved };
      this.#say('chain_list_not_served', message);
    }
  }

  async #serve(state: SyncState): Promise<void> {
    const { database, publish } = this.#parts;
    if (state.snapshotId !== undefined && state.snapshotId !== this.#servedSnapshot) {
      const current = await readCurrentSnapshot(database, this.#sources);
      if (current !== undefined) {
        await publish(await readSnapshotList(database, current));
        this.#log.info(
          { event: 'chain_list_served', source: current.source, sha256: current.sha256 },
          'a newer chain list is served',
        );
      }
      this.#servedSnapshot = current?.id;
    }
  }

  async #attempt(): Promise<void> {
    const { database } = this.#parts;
    const { signal } = this.#closing;
    const { deadlineMs } = this.#times;
    let outcome: SyncOutcome;
    try {
      signal.throwIfAborted();
      outcome = await syncList(this.#parts, { sources: this.#sources, deadlineMs, signal });
    } catch (error) {
      await releaseAttempt(database).catch(() => undefined);
      throw error;
    }
    await recordAttempt(database, outcome.failure);
    this.#logOutcome(outcome);
  }

  #logOutcome({ outcomes, failure }: SyncOutcome): void {
    const last = outcomes.at(-1);
    if (failure !== undefined) this.#say('chain_list_sync_failed', failure.forOperator);
    else if (last !== undefined && outcomes.length > 1) {
      const errors = outcomes.flatMap((each) => ('error' in each ? [each.error.forOperator] : []));
      this.#say('chain_list_source_failed', errors.join(' '));
    } else {
      if (this.#lastLogged !== undefined) {
        this.#log.info({ event: 'chain_list_sync_recovered' }, 'the public list is current again');
      }
      this.#lastLogged = undefined;
    }
    if (last?.status !== 'accepted') return;
    const { list, difference, heldBack } = last;
    this.#log.info(
      {
        event: 'chain_list_accepted',
        source: last.source,
        sha256: list.sha256,
        chains: list.records.length,
        quarantined: list.quarantined.length,
        added: difference.added.length,
        removed: difference.removed.length,
        renamed: difference.renamed.length,
        identity_changed: difference.identityChanged.length,
        held_back: heldBack.map(({ chainId }) => chainId),
      },
      'a newer chain list was accepted',
    );
  }

  #say(event: string, error: string): void {
    if (this.#lastLogged === `${event} ${error}`) return;
    this.#lastLogged = `${event} ${error}`;
    this.#log.warn({ event, error }, 'the public list could not be updated');
  }
}

/** The current failure. If it continues, it keeps its start time. */
function failureOf(error: unknown, message: string, before: SyncFailure | undefined): SyncFailure {
  const code = error instanceof FullmatchError ? error.code : 'internal_error';
  return { since: before?.since ?? new Date(), count: (before?.count ?? 0) + 1, code, message };
}
