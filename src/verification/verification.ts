import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import { type Database, SERVING_TIME_LIMIT_MS } from '../store/database.ts';
import { watchJobs } from './job-notifications.ts';
import { readJob } from './read-job.ts';
import { submitJob, type QueueLimits } from './submit-job.ts';
import { watchQueue, type QueueState } from './queue-state.ts';
import { isFinished, type JobEnd, type VerificationJob } from './verification-job.ts';
import { type VerificationRequest } from './verification-request.ts';
import { verifyContract, type VerificationParts } from './verify-contract.ts';
import { shuttingDown, startWorkers, type WorkerOptions } from './worker.ts';

/** Verification as others use it: submit, look, wait. */
export interface Verification {
  /**
   * Puts a verification into the queue.
   * @returns the job's id.
   * @throws FullmatchError unsupported_chain, already_verified, duplicate_verification_request, queue_full,
   * storage_full, database_unreachable when the database does not answer in time.
   */
  submit(request: VerificationRequest, client: string): Promise<string>;
  /** The job of an id, or undefined. */
  readJob(id: string): Promise<VerificationJob | undefined>;
  /**
   * Waits for a job's end.
   * @throws FullmatchError job_not_found; shutting_down when the service ends before; the reason of `signal`.
   */
  waitForJob(id: string, signal?: AbortSignal): Promise<VerificationJob>;
  /** The jobs in flight, of all processes; undefined while that cannot be read. */
  readonly queue: QueueState | undefined;
  /** Calls back for every job that this process brings to its end. */
  onJobEnd(listener: (end: JobEnd) => void): void;
  /** Hands the jobs at work back to the queue and ends. */
  close(): Promise<void>;
}

/** Whose parts the verification is made of. */
export interface VerificationOptions extends WorkerOptions {
  readonly queue: QueueLimits;
  /** @throws FullmatchError `storage_full` when nothing more should be accepted */
  readonly requireSpace?: () => Promise<void>;
}

/** How often a waiter looks where no notification comes. */
const WAIT_POLL_MS = 500;

/** Starts the workers of this process on the database's queue, and gives the way into the queue. */
export async function startVerification(
  database: Database,
  parts: VerificationParts,
  options: VerificationOptions,
  log: Logger,
): Promise<Verification> {
  const watch = await watchJobs(database);
  const queue = await watchQueue(database, watch, log);
  const serving = database.limited(SERVING_TIME_LIMIT_MS);
  const closing = new AbortController();
  const listeners: ((end: JobEnd) => void)[] = [];
  const workers = startWorkers(
    {
      database,
      watch,
      log,
      verify: (request, signal) => verifyContract(parts, request, signal),
      onEnd: (end) => {
        for (const listener of listeners) listener(end);
      },
    },
    options,
  );
  const closeAll = async (): Promise<void> => {
    closing.abort(shuttingDown());
    await workers.close();
    await queue.close();
    await watch.close();
  };
  let closed: Promise<void> | undefined;
  return {
    submit: async (request, client) => {
      requireSupported(parts, request.chainId);
      await options.requireSpace?.();
      return submitJob(serving, request, client, options.queue);
    },
    readJob: (id) => readJob(serving, id),
    waitForJob: async (id, given) => {
      const signal = given ? AbortSignal.any([given, closing.signal]) : closing.signal;
      for (;;) {
        signal.throwIfAborted();
        const job = await readJob(serving, id);
        if (job === undefined) throw jobNotFound(id);
        if (isFinished(job)) return job;
        await watch.wait(WAIT_POLL_MS, signal);
      }
    },
    get queue() {
      return queue.current;
    },
    onJobEnd: (listener) => listeners.push(listener),
    close: () => (closed ??= closeAll()),
  };
}

function requireSupported({ findSupportedChain }: VerificationParts, chainId: number): void {
  if (findSupportedChain(chainId) !== undefined) return;
  throw new FullmatchError(
    'unsupported_chain',
    `Contracts of chain ${chainId} are not verified here; /chains lists the chains with supported: true.`,
    { details: { chainId } },
  );
}

/** The error for an id that is no job's. */
export function jobNotFound(id: string): FullmatchError {
  return new FullmatchError(
    'job_not_found',
    `There is no verification job ${JSON.stringify(id.slice(0, 64))}.`,
  );
}
