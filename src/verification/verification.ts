// Queues verification requests as jobs, compiles, compares with the chain, and stores matches.
import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import { type Contradiction } from '../repository/repository.ts';
import { type Database, SERVING_TIME_LIMIT_MS } from '../store/database.ts';
import { CompilerDownloadPending, MAX_COMPILER_WAITS } from './jobs/awaited-compilers.ts';
import {
  createSubmittedCodeVerifier,
  type SubmittedCodeVerifier,
} from './submitted-codes/submitted-code-verifier.ts';
import { endJob } from './jobs/end-job.ts';
import { type JobWatch, watchJobs } from './jobs/job-notifications.ts';
import { JobWaiters, type WaiterLimits, type WaitOptions } from './jobs/job-waiters.ts';
import { submitJob, type QueueLimits } from './jobs/submit-job.ts';
import { checkBeforeSubmitting } from './recheck/submission-check.ts';
import { watchQueue, type QueueState } from './jobs/queue-state.ts';
import { type JobEnd, type VerificationJob } from './jobs/verification-job.ts';
import { createKnownCodeSearch, type KnownCodeSearch } from './known-codes/search-known-code.ts';
import { startIndexing } from './known-codes/start-indexing.ts';
import { KnownCodeCache } from './known-codes/known-code-cache.ts';
import { type KnownCodeParts } from './known-codes/verify-known-code.ts';
import { createProposalReader, type ProposalReader } from './propose-compiler.ts';
import { type Deployment, type PackedRequest } from './verification-request.ts';
import { type VerificationTask } from './compilation/read-compilation-task.ts';
import { VerificationFailure } from './verification-failure.ts';
import { type VerificationParts, type VerificationResult } from './verify-contract.ts';
import { verifyCurrentCode, verifyCurrentKnownCode } from './recheck/verify-and-save.ts';
import { shuttingDown, startWorkers, type WorkerOptions } from './jobs/worker.ts';

/** Public interface of verification: submit, read and wait for jobs. */
export interface Verification {
  /**
   * Queues a verification.
   * @param share the client's share of the queue, if it differs from the default
   * @returns the job's id.
   * @throws FullmatchError unsupported_chain, already_verified, duplicate_verification_request, queue_full,
   * storage_full, database_unreachable if the database does not respond in time.
   */
  submit(
    request: PackedRequest,
    client: string,
    share?: Pick<QueueLimits, 'perClient'>,
  ): Promise<string>;
  /** See {@link ProposalReader.propose}. */
  propose: ProposalReader['propose'];
  /** Verifies submitted bytecode without a chain. See {@link SubmittedCodeVerifier.verify}. */
  verifyGiven: SubmittedCodeVerifier['verify'];
  /** Finds stored contracts by bytecode or location. */
  readonly knownCodes: KnownCodeSearch;
  /** Reads a job; undefined for an unknown id. */
  readJob(id: string): Promise<VerificationJob | undefined>;
  /** See {@link endJob}. */
  endJob(id: string, client: string): Promise<VerificationJob>;
  /** See {@link JobWaiters.waitForEnd}. */
  waitForJob(id: string, options: WaitOptions): Promise<VerificationJob | undefined>;
  /** Number of requests of this process that wait for jobs to end. */
  readonly waiters: number;
  /** Jobs in flight in all processes; undefined while the queue cannot be read. */
  readonly queue: QueueState | undefined;
  /** Resolves at the next job notification of any process, after a timeout, or when the signal aborts. */
  readonly waitForNews: JobWatch['wait'];
  /** Registers a callback for every job that this process ends. */
  onJobEnd(listener: (end: JobEnd) => void): void;
  /** Hands the running jobs back to the queue and stops. */
  close(): Promise<void>;
}

/** Options of the verification service. */
export interface VerificationOptions extends WorkerOptions {
  readonly queue: QueueLimits;
  readonly waiters: WaiterLimits;
  /** Explorers that matches of a chain are forwarded to. */
  readonly explorersOf?: (chainId: number) => readonly string[];
  /** @throws FullmatchError `storage_full` if no more data should be accepted */
  readonly requireSpace?: () => Promise<void>;
}

/** Starts the workers of this process and returns the interface to the queue. */
export async function startVerification(
  database: Database,
  parts: VerificationParts,
  options: VerificationOptions,
  log: Logger,
): Promise<Verification> {
  const watch = await watchJobs(database);
  const queue = await watchQueue(database, watch, log);
  const serving = database.limited(SERVING_TIME_LIMIT_MS);
  const waiters = new JobWaiters({ database: serving, watch, log }, options.waiters);
  const closing = new AbortController();
  const proposals = createProposalReader(
    parts,
    (language) => parts.compilers.listVersions(language),
    closing.signal,
  );
  const given = createSubmittedCodeVerifier(parts, options.workers, closing.signal);
  const checkCode = checkBeforeSubmitting(serving, parts, closing.signal, log);
  const listeners: ((end: JobEnd) => void)[] = [];
  const notifyEnd = (end: JobEnd): void => {
    // Contracts created by a new match may be requested within a second.
    if (end.kind === 'match') indexing.wake();
    for (const listener of listeners) listener(end);
  };
  const indexing = startIndexing(database, log);
  const known = { ...parts, database, cache: new KnownCodeCache() };
  const knownCodes = createKnownCodeSearch({
    ...{ database: serving, cache: known.cache, sourceBytes: parts.sourceBytes },
    // A process without workers does not compile.
    ...(options.workers > 0 && { given }),
  });
  const working = { ...parts, doOthersWait: () => (queue.current?.queued ?? 0) > 0 };
  const workers = startWorkers(
    {
      database,
      watch,
      log,
      verify: async ({ request, compilerWaits }, signal, contradicted) => {
        const { reader, sourceBytes } = parts;
        const question = { read: 'task', bytes: request, sourceBytes } as const;
        const submitted = await reader.ask(question, signal);
        if (submitted.task === 'stored')
          return verifyByStored(known, submitted, signal, contradicted);
        const task = { ...submitted, task: submitted.task };
        if (compilerWaits < MAX_COMPILER_WAITS) await requireCompiler(parts, task);
        return verifyCurrentCode(database, working, task, signal, contradicted);
      },
      ...(options.explorersOf && { explorersOf: options.explorersOf }),
      onEnd: notifyEnd,
    },
    options,
  );
  const closeAll = async (): Promise<void> => {
    closing.abort(shuttingDown());
    await waiters.close(shuttingDown());
    await indexing.close();
    await workers.close();
    await queue.close();
    await watch.close();
  };
  let closed: Promise<void> | undefined;
  return {
    submit: async (request, client, share) => {
      requireSupported(parts, request.chainId);
      await options.requireSpace?.();
      await checkCode(request, client);
      return submitJob(serving, request, client, { ...options.queue, ...share });
    },
    propose: (chainId, address, requester) => proposals.propose(chainId, address, requester),
    verifyGiven: (request, requester) => given.verify(request, requester),
    knownCodes,
    readJob: (id) => waiters.read(id),
    endJob: (id, client) => endJob(serving, id, client),
    waitForJob: (id, wait) => waiters.waitForEnd(id, wait),
    waitForNews: (timeoutMs, signal) => watch.wait(timeoutMs, signal),
    get waiters() {
      return waiters.size;
    },
    get queue() {
      return queue.current;
    },
    onJobEnd: (listener) => listeners.push(listener),
    close: () => (closed ??= closeAll()),
  };
}

/** @throws VerificationFailure no_similar_match_found; else as {@link verifyCurrentKnownCode} */
async function verifyByStored(
  parts: KnownCodeParts,
  deployment: Deployment,
  signal: AbortSignal,
  contradicted: Contradiction[],
): Promise<VerificationResult> {
  const result = await verifyCurrentKnownCode(parts, deployment, signal, contradicted);
  if (result !== undefined) return result;
  throw new VerificationFailure(
    'no_similar_match_found',
    'No sources stored here compile to the code on chain. Sources stored a moment ago may not be searchable yet.',
  );
}

/** @throws CompilerDownloadPending if the compiler must be downloaded first. Other errors are left to the compilation. */
async function requireCompiler(
  { compilers }: VerificationParts,
  { task }: VerificationTask,
): Promise<void> {
  const awaited = await compilers.obtain(task);
  if (awaited !== undefined) throw new CompilerDownloadPending(awaited);
}

function requireSupported({ findSupportedChain }: VerificationParts, chainId: number): void {
  if (findSupportedChain(chainId) !== undefined) return;
  throw new FullmatchError(
    'unsupported_chain',
    `Contracts of chain ${chainId} cannot be verified here; see the supported chains in /chains.`,
    { details: { chainId } },
  );
}
