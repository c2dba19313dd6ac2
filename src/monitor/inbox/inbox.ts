import { randomUUID } from 'node:crypto';
import { FullmatchError, messageOf } from '../../errors.ts';
import { combineSignals } from '../../lib/combine-signals.ts';
import { printableText } from '../../lib/printable-text.ts';
import { repeatUntilAborted, Waker } from '../../lib/repeat.ts';
import { deleteOldCreations } from './creation-counts.ts';
import {
  claimCreations,
  readEndedJobs,
  renewCreations,
  recordTrialOutcome,
  storeJobOutcome,
  type EndedJob,
  type Stage,
  type AttemptOutcome,
  type WaitingCreation,
} from './inbox-table.ts';
import { RecentBytecode } from './recent-bytecode.ts';
import { outcomeOfFailure, attemptCreation, type AttemptDependencies } from './try-creation.ts';

/** Options of an inbox. */
export interface InboxOptions {
  /** Creations that this process handles at once, in each of the two stages. */
  readonly concurrency: number;
  /** Retention period of finished creations, in days. */
  readonly keepDays: number;
  /** Interval of the search for due creations, in milliseconds (500). */
  readonly pollMs?: number;
  /** Lifetime of a creation's lease after its last renewal, in milliseconds (60,000). */
  readonly leaseMs?: number;
}

const POLL_MS = 500;
/** Fallback for lost notifications of ended jobs. */
const JOBS_POLL_MS = 5000;
const LEASE_MS = 60_000;
const RENEWALS_PER_LEASE = 3;
/** Timeout of one try, which reads the chain, compiles and queries gateways. */
const TRIAL_TIMEOUT_MS = 300_000;
const FORGET_MORE_MS = 2000;
const FORGET_EVERY_MS = 600_000;
/** Delay after a database error. */
const RETRY_MS = 1000;
const DETAIL_CHARACTERS = 500;

/** The inbox of this process, which handles creations until it is closed. */
export interface Inbox {
  /** Makes it search for creations immediately. */
  wake(): void;
  /** Number of creations in progress. */
  readonly running: number;
  /** Stops work in progress; it is due again immediately. */
  close(): Promise<void>;
}

/**
 * Handles the seen creations: claims each due creation with a lease, tries it and stores its outcome, so a
 * crash delays it by at most one lease. Work without gateways has its own slots, so that known bytecode does
 * not wait behind bytecode without available sources.
 */
export function openInbox(parts: AttemptDependencies, options: InboxOptions): Inbox {
  const { database, log } = parts;
  const { concurrency, keepDays, pollMs = POLL_MS, leaseMs = LEASE_MS } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const lease = { token: randomUUID(), ms: leaseMs };
  const atWork = new Map<WaitingCreation, Promise<void>>();
  const codes = new RecentBytecode();
  const waker = new Waker();
  const work = async (creation: WaitingCreation): Promise<void> => {
    const ending = combineSignals([signal, AbortSignal.timeout(TRIAL_TIMEOUT_MS)]);
    try {
      const { outcome, ...code } = await tryOrRelease({ ...parts, codes }, creation, ending.signal);
      await recordTrialOutcome(database, creation, lease.token, shown(outcome), code);
    } catch (error) {
      const facts = { chain_id: creation.chainId, address: creation.address };
      const event = { event: 'creation_not_settled', ...facts, error: messageOf(error) };
      log.warn(event, 'the result of a found contract could not be stored; it will be retried');
    } finally {
      ending.release();
    }
  };
  const claim = async (stage: Stage): Promise<void> => {
    if (signal.aborted) return;
    const chainIds = [...parts.monitored().keys()];
    const most = concurrency - [...atWork.keys()].filter((held) => held.stage === stage).length;
    if (most <= 0 || chainIds.length === 0) return;
    const claimed = await claimCreations(database, chainIds, { stage, most }, lease);
    for (const creation of claimed) {
      const done = work(creation).finally(() => {
        atWork.delete(creation);
        waker.wake();
      });
      atWork.set(creation, done);
    }
  };
  const loops = [
    repeatPart({ signal, log, what: 'found contracts', waker }, async () => {
      await claim('code');
      await claim('sources');
      return pollMs;
    }),
    repeatPart({ signal, log, what: 'jobs of found contracts' }, async () => {
      // Subscribes before the query, so that no job that ends in between is missed.
      const next = parts.waitForJobs(JOBS_POLL_MS, signal);
      for (const ended of await readEndedJobs(database)) await settleEnded(parts, ended);
      await next;
      return 0;
    }),
    repeatPart({ signal, log, what: 'leases of found contracts' }, async () => {
      if (atWork.size > 0) await renewCreations(database, [...atWork.keys()], lease);
      return leaseMs / RENEWALS_PER_LEASE;
    }),
    tidy(parts, keepDays, signal),
  ];
  return {
    wake: () => waker.wake(),
    get running() {
      return atWork.size;
    },
    close: async () => {
      closing.abort(new FullmatchError('shutting_down', 'The service is shutting down.'));
      // A claim in progress may still add creations, so wait for the loops before the remaining work.
      await Promise.all(loops);
      await Promise.all(atWork.values());
    },
  };
}

/** Repeats a part of the inbox's work; a persistent failure is logged once. Never rejects. */
function repeatPart(
  {
    what,
    log,
    ...how
  }: {
    readonly what: string;
    readonly log: AttemptDependencies['log'];
    readonly signal: AbortSignal;
    readonly waker?: Waker;
  },
  run: () => Promise<number>,
): Promise<void> {
  const onFailure = (error: unknown): void => {
    const facts = { event: 'inbox_failed', what, error: messageOf(error) };
    log.warn(facts, 'the monitor’s inbox has stopped for the moment');
  };
  return repeatUntilAborted(run, { ...how, retryMs: RETRY_MS, onFailure });
}

/** Returns the outcome of a try; if it threw, the creation is due again soon. */
async function tryOrRelease(
  parts: Parameters<typeof attemptCreation>[0],
  creation: WaitingCreation,
  ending: AbortSignal,
): Promise<Awaited<ReturnType<typeof attemptCreation>>> {
  try {
    // Code that starts listening to a signal after it was aborted might never settle.
    ending.throwIfAborted();
    return await attemptCreation(parts, creation, ending);
  } catch (error) {
    const isTimeout = (ending.reason as Error | undefined)?.name === 'TimeoutError';
    const detail = isTimeout ? 'Trying it took too long.' : messageOf(error);
    if (!isTimeout) {
      const afterMs = ending.aborted ? 0 : RETRY_MS;
      return { outcome: { kind: 'waiting', reason: 'interrupted', detail, afterMs, isTry: false } };
    }
    return { outcome: outcomeOfFailure(creation.tries, { reason: 'job_timed_out', detail }) };
  }
}

/** Makes text from outside printable and truncates it. */
function shown<Outcome extends AttemptOutcome>(outcome: Outcome): Outcome {
  if (!('detail' in outcome)) return outcome;
  return { ...outcome, detail: printableText(outcome.detail, DETAIL_CHARACTERS) };
}

const JOB_NOT_KEPT = {
  kind: 'waiting',
  reason: 'job_not_kept',
  detail: 'The verification is no longer stored.',
  afterMs: 0,
  isTry: false,
} as const;

/** Stores the outcome of a creation's job. */
async function settleEnded(
  { database, random }: AttemptDependencies,
  { creation, jobId, state, code, message }: EndedJob,
): Promise<void> {
  const outcome =
    state === 'succeeded'
      ? ({ kind: 'verified', reason: 'sources' } as const)
      : state === undefined
        ? JOB_NOT_KEPT
        : // The try that submitted the job is already counted.
          outcomeOfFailure(
            Math.max(0, creation.tries - 1),
            { reason: code, detail: message },
            random,
          );
  await storeJobOutcome(database, creation, jobId, shown(outcome));
}

/** Deletes creations that finished long ago. */
function tidy(
  { database, log }: AttemptDependencies,
  keepDays: number,
  signal: AbortSignal,
): Promise<void> {
  return repeatPart({ signal, log, what: 'forgetting of found contracts' }, async () => {
    const isMore = await deleteOldCreations(database, keepDays);
    return isMore ? FORGET_MORE_MS : FORGET_EVERY_MS;
  });
}
