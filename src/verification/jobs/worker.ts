import { setTimeout as wait } from 'node:timers/promises';
import { FullmatchError, messageOf } from '../../errors.ts';
import { combineSignals } from '../../lib/combine-signals.ts';
import { abortable } from '../../lib/deadline.ts';
import { type Logger } from '../../log.ts';
import { type Database } from '../../store/database.ts';
import {
  CompilerDownloadPending,
  type CompilerWaits,
  followDownloads,
} from './awaited-compilers.ts';
import { type JobWatch } from './job-notifications.ts';
import { troubleBackoffMs, requeueAfterTemporaryProblem } from './requeue.ts';
import { runReaper } from './reaper.ts';
import {
  claimJob,
  finishWithFailure,
  finishWithMatch,
  releaseJob,
  renewLease,
  type ClaimedJob,
} from './run-jobs.ts';
import {
  failureKindOf,
  isPassing,
  toVerificationFailure,
  unexpectedCause,
  VerificationFailure,
} from '../verification-failure.ts';
import { type JobEnd } from './verification-job.ts';
import { type Contradiction } from '../../repository/repository.ts';
import { isFullMatch, type VerificationResult } from '../verify-contract.ts';
import { verifyAndSave } from '../recheck/verify-and-save.ts';

/** Options of the workers. Times in milliseconds. */
export interface WorkerOptions {
  /** Number of concurrent jobs in this process. */
  readonly workers: number;
  /** Time limit of a whole job. */
  readonly jobTimeoutMs: number;
  /** How long a job remains claimed after the last heartbeat (8,000). */
  readonly leaseMs?: number;
  /** Polling interval without notifications (1,000). */
  readonly pollMs?: number;
}

/** Dependencies of the workers. */
export interface WorkerParts {
  readonly database: Database;
  readonly watch: JobWatch;
  readonly log: Logger;
  readonly verify: (
    job: Pick<ClaimedJob, 'chainId' | 'address' | 'request' | 'compilerWaits'>,
    signal: AbortSignal,
    contradicted: Contradiction[],
  ) => Promise<VerificationResult>;
  /** Explorers that matches of a chain are forwarded to. */
  readonly explorersOf?: (chainId: number) => readonly string[];
  /** Called for each job that this process ended, including those of lost workers. */
  readonly onEnd?: (end: JobEnd) => void;
}

/** Workers of this process, which run until they are closed. */
export interface Workers {
  /** Number of running jobs. */
  readonly running: number;
  /** Interrupts the running jobs and hands them back to the queue; resolves when no worker is left. */
  close(): Promise<void>;
}

/**
 * A job of a killed process is taken over within ten seconds: one lease after its last heartbeat, plus one
 * heartbeat.
 */
const LEASE_MS = 8_000;
const POLL_MS = 1_000;
const HEARTBEATS_PER_LEASE = 6;
/** Delay after a failed claim, when the database is unavailable. */
const RETRY_MS = 1_000;

/** Why a job was interrupted. */
class Interruption extends Error {
  readonly why: 'stopping' | 'lost';

  constructor(why: Interruption['why']) {
    super(why);
    this.why = why;
  }
}

/**
 * Starts workers that take jobs from the queue, verify, and store matches. Every job ends with a match, with
 * a failure, or back in the queue.
 */
export function startWorkers(parts: WorkerParts, options: WorkerOptions): Workers {
  const stopping = new AbortController();
  const { leaseMs = LEASE_MS, pollMs = POLL_MS, jobTimeoutMs } = options;
  const state = { running: 0 };
  const waits = followDownloads(parts.database, parts.log);
  const heartbeats = new Map<string, () => void>();
  // A cancelled job is notified like an ended one.
  parts.watch.onEnd((id) => heartbeats.get(id ?? '')?.());
  const work = async (): Promise<void> => {
    let troubles = 0;
    while (!stopping.signal.aborted) {
      const job = await claim(parts, leaseMs);
      if (job === 'failed')
        await wait(RETRY_MS, undefined, { signal: stopping.signal }).catch(noop);
      else if (job === undefined) await parts.watch.wait(pollMs, stopping.signal);
      else {
        state.running += 1;
        const settled = await runJob(parts, job, {
          ...{ waits, heartbeats, leaseMs, jobTimeoutMs },
          stopping: stopping.signal,
        });
        state.running -= 1;
        troubles = settled === 'troubled' ? troubles + 1 : 0;
        await wait(troubleBackoffMs(troubles), undefined, { signal: stopping.signal }).catch(noop);
      }
    }
  };
  const loops = [
    runReaper(parts, leaseMs / HEARTBEATS_PER_LEASE, stopping.signal),
    ...Array.from({ length: options.workers }, work),
  ];
  return {
    get running() {
      return state.running;
    },
    close: async () => {
      stopping.abort(new Interruption('stopping'));
      await Promise.all(loops);
      await waits.close();
    },
  };
}

function noop(): void {
  // The wait was aborted.
}

async function claim(
  { database, log }: WorkerParts,
  leaseMs: number,
): Promise<ClaimedJob | 'failed' | undefined> {
  try {
    return await claimJob(database, leaseMs);
  } catch (error) {
    log.warn({ event: 'claim_failed', error: messageOf(error) }, 'no job can be claimed');
    return 'failed';
  }
}

interface RunOptions {
  readonly waits: CompilerWaits;
  /** Functions that renew the lease of a running job immediately, by job id. */
  readonly heartbeats: Map<string, () => void>;
  readonly leaseMs: number;
  readonly jobTimeoutMs: number;
  readonly stopping: AbortSignal;
}

/** Runs one job until it ends, or puts it back after a temporary problem. Never rejects. */
async function runJob(
  parts: WorkerParts,
  job: ClaimedJob,
  options: RunOptions,
): Promise<'troubled' | undefined> {
  const { database, log } = parts;
  const begun = performance.now();
  const interrupted = new AbortController();
  const timeout = setTimeout(() => {
    const seconds = Math.round(options.jobTimeoutMs / 1000);
    const message = `The verification took longer than the limit of ${seconds} seconds.`;
    interrupted.abort(new VerificationFailure('job_timed_out', message));
  }, options.jobTimeoutMs);
  const beat = (): void => {
    void renewLease(database, job, options.leaseMs).then(
      (held) => {
        if (held === 'lost') interrupted.abort(new Interruption('lost'));
        if (held === 'cancelled') interrupted.abort(cancelled());
      },
      (error: unknown) =>
        log.warn(
          { event: 'heartbeat_failed', job: job.id, error: messageOf(error) },
          'no heartbeat',
        ),
    );
  };
  const heartbeat = setInterval(beat, options.leaseMs / HEARTBEATS_PER_LEASE);
  options.heartbeats.set(job.id, beat);
  const ending = combineSignals([interrupted.signal, options.stopping]);
  const { signal } = ending;
  let outcome: JobOutcome | 'troubled' | undefined;
  try {
    outcome = await verifyAndStore(parts, job, signal);
  } catch (error) {
    const reason: unknown = signal.aborted ? signal.reason : error;
    outcome = await settle(parts, job, reason, options);
  } finally {
    clearTimeout(timeout);
    clearInterval(heartbeat);
    ending.release();
    options.heartbeats.delete(job.id);
  }
  if (outcome === 'troubled') return outcome;
  if (outcome !== undefined) {
    parts.onEnd?.({ ...outcome, seconds: (performance.now() - begun) / 1000 });
  }
  return undefined;
}

/** How a job ended; undefined if it did not end, or not by this worker. */
type JobOutcome = Pick<JobEnd, 'kind' | 'outcome'>;

function cancelled(): VerificationFailure {
  return new VerificationFailure('job_cancelled', 'The verification was cancelled.');
}

async function verifyAndStore(
  { database, verify, explorersOf, log }: WorkerParts,
  job: ClaimedJob,
  signal: AbortSignal,
): Promise<JobOutcome | undefined> {
  signal.throwIfAborted();
  const verifyJob = (contradicted: Contradiction[]): Promise<VerificationResult> =>
    abortable(verify(job, signal, contradicted), signal);
  const { result, saved } = await verifyAndSave(database, verifyJob, log);
  const { contract } = result;
  const isOurs = await finishWithMatch(
    database,
    job,
    result,
    saved,
    explorersOf?.(contract.chainId),
  );
  log.info(
    {
      event: 'verified',
      job: job.id,
      chain_id: contract.chainId,
      address: contract.address,
      name: contract.compilation.name,
      runtime_match: contract.runtimeMatch,
      creation_match: contract.creationMatch,
      outcome: saved.outcome,
    },
    'verified',
  );
  if (!isOurs) return undefined;
  return { kind: 'match', outcome: isFullMatch(contract) ? 'full' : 'partial' };
}

/** Ends a job without a match, or puts it back. */
async function settle(
  { database, log }: WorkerParts,
  job: ClaimedJob,
  reason: unknown,
  { stopping, waits }: Pick<RunOptions, 'stopping' | 'waits'>,
): Promise<JobOutcome | 'troubled' | undefined> {
  try {
    if (reason instanceof CompilerDownloadPending) {
      await waits.park(job, reason.awaited);
      return undefined;
    }
    if (reason instanceof Interruption) {
      if (reason.why !== 'lost') await releaseJob(database, job);
      return undefined;
    }
    if (isPassing(reason)) {
      const facts = { event: 'job_put_back', job: job.id, error: messageOf(reason) };
      log.warn(facts, 'a verification met a temporary problem and will be retried');
      if (await requeueAfterTemporaryProblem(database, job, stopping)) return 'troubled';
    }
    const failure = toVerificationFailure(reason);
    const errorId = await finishWithFailure(database, job, failure);
    if (errorId === undefined) return undefined;
    const cause = unexpectedCause(failure);
    const facts = { event: 'verification_failed', job: job.id, code: failure.code };
    const subject = { chain_id: job.chainId, address: job.address, error_id: errorId };
    const detail = operatorDetail(failure);
    if (cause === undefined) log.info({ ...facts, ...subject, ...detail }, 'not verified');
    else log.error({ ...facts, ...subject, cause }, 'a verification failed unexpectedly');
    return { kind: failureKindOf(failure.code), outcome: failure.code };
  } catch (error) {
    // A result that cannot be stored will be computed again.
    if (
      isPassing(error) &&
      (await requeueAfterTemporaryProblem(database, job, stopping).catch(() => false))
    ) {
      return 'troubled';
    }
    log.warn(
      { event: 'job_not_settled', job: job.id, error: messageOf(error) },
      'the result of a job could not be stored; its lease will expire',
    );
    return undefined;
  }
}

/** Returns the details of a failure for the log, in addition to its public message. */
function operatorDetail({ cause, message }: VerificationFailure): { readonly detail?: string } {
  if (!(cause instanceof FullmatchError) || cause.forOperator === message) return {};
  return { detail: cause.forOperator };
}

/** Builds the error for requests that wait for a job while the service shuts down. */
export function shuttingDown(): FullmatchError {
  return new FullmatchError(
    'shutting_down',
    'The service is shutting down; try again in a second.',
  );
}
