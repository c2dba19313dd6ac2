import { maskCode } from '../../bytecode/masked-code.ts';
import { isDelegation } from '../../chains/rpc/delegation.ts';
import { type DeployedCode } from '../../chains/rpc/deployed-code.ts';
import { type MonitoredChain } from '../../chains/registry/monitored-chain.ts';
import { FullmatchError } from '../../errors.ts';
import { type Logger } from '../../log.ts';
import { readCurrentMatches, sha256 } from '../../repository/repository.ts';
import { type Database } from '../../store/database.ts';
import { MONITOR_CLIENT } from '../../verification/jobs/run-jobs.ts';
import { type QueueLimits } from '../../verification/jobs/submit-job.ts';
import { recheckMatch, logRecheckOutcome } from '../../verification/recheck/code-check.ts';
import { verifyAndSaveKnownCode } from '../../verification/recheck/verify-and-save.ts';
import {
  failureKindOf,
  isPassing,
  toVerificationFailure,
} from '../../verification/verification-failure.ts';
import {
  type PackedRequest,
  type VerificationRequest,
} from '../../verification/verification-request.ts';
import { type VerificationParts } from '../../verification/verify-contract.ts';
import { type verifyKnownCode } from '../../verification/known-codes/verify-known-code.ts';
import { type SourceFinder } from '../sources/find-sources.ts';
import { backOffMs } from './back-off.ts';
import { type RecentBytecode } from './recent-bytecode.ts';
import {
  readQueuedCreations,
  type ReadHashes,
  type AttemptOutcome,
  type WaitingCreation,
} from './inbox-table.ts';

/** Dependencies of trying a creation. */
export interface AttemptDependencies {
  readonly database: Database;
  readonly reading: VerificationParts;
  readonly monitored: () => ReadonlyMap<number, MonitoredChain>;
  /** Verifies a contract with a stored compilation that gives its bytecode; returns undefined if there is none. */
  readonly verifyKnownCode: typeof verifyKnownCode;
  /** Finds the metadata that the bytecode names, and its sources. */
  readonly findSources: SourceFinder['find'];
  /** Packs a request off the main thread. */
  readonly pack: (request: VerificationRequest, signal: AbortSignal) => Promise<PackedRequest>;
  readonly submit: (
    request: PackedRequest,
    client: string,
    share: Pick<QueueLimits, 'perClient'>,
  ) => Promise<string>;
  /** Resolves when jobs have ended, after `timeoutMs`, or when `signal` aborts. */
  readonly waitForJobs: (timeoutMs: number, signal: AbortSignal) => Promise<void>;
  /** Most creations in the queue at once. */
  readonly queueShare: number;
  readonly log: Logger;
  readonly random?: () => number;
}

/** Outcome of a try, with the bytecode that it concerned. */
export interface Attempt extends ReadHashes {
  readonly outcome: AttemptOutcome;
}

/** Delay while another creation with the same bytecode is being verified, after which the bytecode may be known. */
const SAME_CODE_MS = 2000;
/** Delay if the queue, or the monitor's share of it, is full. */
const QUEUE_FULL_MS = 15_000;
/** Delay for conditions that only a configuration change or free space resolves. */
const UNSUPPORTED_MS = 600_000;
/** Error code of a submission that is already queued, which says nothing about the contract. */
const SAME_REQUEST = 'duplicate_verification_request';

/** Creates a waiting outcome that does not count as a try. */
function deferred(reason: string, detail: string, afterMs: number): AttemptOutcome {
  return { kind: 'waiting', reason, detail, afterMs, isTry: false };
}

/** Creates the outcome of a failed try: the creation waits for the next one, or is abandoned if there is none. */
function retryLater(
  tries: number,
  { reason, detail, isPassing: isNotItsFault = false }: Why,
  random: () => number = Math.random,
): Extract<AttemptOutcome, { kind: 'waiting' | 'given_up' | 'gone' }> {
  const afterMs = backOffMs(tries, isNotItsFault, random());
  return afterMs === undefined
    ? { kind: 'given_up', reason, detail }
    : { kind: 'waiting', reason, detail, afterMs, isTry: true };
}

interface Why {
  readonly reason: string;
  readonly detail: string;
  readonly isPassing?: boolean;
}

interface WithCodes {
  readonly codes: RecentBytecode;
}

/**
 * Tries to verify a creation: with stored compilations, and in the stage `sources` with the sources that its
 * bytecode names.
 * @throws errors that say nothing about the contract, such as an unresponsive database; the reason of
 * `signal`
 */
export async function attemptCreation(
  parts: AttemptDependencies & WithCodes,
  creation: WaitingCreation,
  signal: AbortSignal,
): Promise<Attempt> {
  let hashes: ReadHashes = {};
  try {
    const outcome = await attempt(parts, creation, signal, (read) => (hashes = read));
    return { outcome, ...hashes };
  } catch (error) {
    signal.throwIfAborted();
    if (isPassing(error)) throw error;
    return { outcome: outcomeOfFault(parts, creation, error), ...hashes };
  }
}

async function attempt(
  parts: AttemptDependencies & WithCodes,
  creation: WaitingCreation,
  signal: AbortSignal,
  onCode: (read: ReadHashes) => void,
): Promise<AttemptOutcome> {
  const { database, reading, codes } = parts;
  const { chainId, address, stage } = creation;
  const chain = reading.findSupportedChain(chainId);
  if (chain === undefined) {
    return deferred('unsupported_chain', 'The chain is not supported here.', UNSUPPORTED_MS);
  }
  if (creation.codeHash !== undefined && (await isSameCodeQueued(database, creation.codeHash))) {
    return sameCodeQueued();
  }
  const verified = await findMatch(parts, creation, signal);
  if (verified !== undefined) return verified;
  const quorum = reading.quorumOf(chainId);
  const options = { signal, ...(quorum !== undefined && { quorum }) };
  const deployed =
    codes.take(creation) ?? (await reading.readDeployedCode(chain, address, options));
  if (isDelegation(deployed.code)) {
    const detail = 'The address is an account that runs the code of a contract (EIP-7702).';
    return { kind: 'given_up', reason: 'delegated_account', detail };
  }
  const codeHash = sha256(deployed.code);
  onCode({ codeHash, maskedHash: maskCode(deployed.code).maskedHash });
  const known = await verifyKnown(parts, creation, deployed, signal);
  if (known !== undefined) return known;
  if (stage === 'sources') return verifyFound(parts, creation, deployed, codeHash, signal);
  codes.keep(creation, deployed);
  return { kind: 'unknown_code' };
}

/** Returns the outcome if the address already has a match that applies to its current bytecode. */
async function findMatch(
  { database, reading, log }: AttemptDependencies,
  { chainId, address, transactionHash, tries }: WaitingCreation,
  signal: AbortSignal,
): Promise<AttemptOutcome | undefined> {
  const [current] = await readCurrentMatches(database, [{ chainId, address }]);
  const chain = reading.findSupportedChain(chainId);
  // Ignore a match that an import only claims: our own verification is worth more.
  if (chain === undefined || current === undefined || current.origin === 'imported') {
    return undefined;
  }
  const options = { signal, named: transactionHash };
  const check = await recheckMatch(database, reading, chain, address, options);
  logRecheckOutcome(log, chainId, address, check.outcome);
  if (check.outcome === 'same') return { kind: 'verified', reason: 'already_verified' };
  if (check.outcome === 'not_checked') {
    const detail = 'The chain could not be read.';
    return retryLater(tries + 1, { reason: check.reason, detail, isPassing: true });
  }
  const [left] = await readCurrentMatches(database, [{ chainId, address }]);
  return left === undefined || check.outcome === 'gone'
    ? undefined
    : { kind: 'verified', reason: 'already_verified' };
}

/** Verifies with stored compilations; the only network access is to the chain. */
async function verifyKnown(
  parts: AttemptDependencies,
  { chainId, address, transactionHash: creationTransactionHash }: WaitingCreation,
  deployed: DeployedCode,
  signal: AbortSignal,
): Promise<AttemptOutcome | undefined> {
  const { database, log } = parts;
  const found = await verifyAndSaveKnownCode(
    { ...parts.reading, database },
    // The bytecode was just read, under the same rules.
    { chainId, address, creationTransactionHash, deployed },
    'monitored',
    signal,
    log,
    parts.verifyKnownCode,
  );
  if (found === undefined) return undefined;
  const facts = { chain_id: chainId, address, outcome: found.saved.outcome };
  log.info({ event: 'verified', by: 'known_code', ...facts }, 'verified by known code');
  return { kind: 'verified', reason: 'known_code' };
}

/** Searches for sources and queues a verification with them. */
async function verifyFound(
  parts: AttemptDependencies,
  { chainId, address, transactionHash, tries }: WaitingCreation,
  { code }: DeployedCode,
  codeHash: Buffer,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { verifying, hasSameCode } = await readQueuedCreations(parts.database, codeHash);
  if (hasSameCode) return sameCodeQueued();
  if (verifying >= parts.queueShare) return queueFull();
  const gateways = parts.monitored().get(chainId)?.gateways ?? [];
  const found = await parts.findSources(code, { gateways, signal });
  if (found.kind === 'not_found') {
    const { reason, detail, isFinal } = found;
    if (isFinal) return { kind: 'given_up', reason, detail };
    return retryLater(tries + 1, { reason, detail }, parts.random);
  }
  const wanted = {
    ...{ chainId, address, creationTransactionHash: transactionHash },
    ...{ compilation: found.compilation, origin: 'monitored' as const },
  };
  const request = await parts.pack(wanted, signal);
  const share = { perClient: parts.queueShare };
  const jobId = await submitOrJoin(() => parts.submit(request, MONITOR_CLIENT, share));
  const facts = { chain_id: chainId, address, job: jobId, from: found.from };
  parts.log.info({ event: 'sources_found', ...facts }, 'the monitor found sources');
  return { kind: 'verifying', jobId };
}

/** Adopts the job of a process that crashed after submitting it. */
async function submitOrJoin(submit: () => Promise<string>): Promise<string> {
  try {
    return await submit();
  } catch (error) {
    const jobId =
      error instanceof FullmatchError && error.code === SAME_REQUEST
        ? error.details['verificationId']
        : undefined;
    if (typeof jobId !== 'string') throw error;
    return jobId;
  }
}

async function isSameCodeQueued(database: Database, codeHash: Buffer): Promise<boolean> {
  return (await readQueuedCreations(database, codeHash)).hasSameCode;
}

function sameCodeQueued(): AttemptOutcome {
  const detail = 'A contract with the same code is being verified.';
  return deferred('same_code_in_queue', detail, SAME_CODE_MS);
}

function queueFull(): AttemptOutcome {
  const detail = 'The queue is full for found contracts at the moment.';
  return deferred('queue_full', detail, QUEUE_FULL_MS);
}

/** Returns the outcome of an error: whether it says something about the contract, and whether to retry. */
function outcomeOfFault(
  { log, random }: AttemptDependencies,
  { chainId, address, tries }: WaitingCreation,
  error: unknown,
): AttemptOutcome {
  if (error instanceof FullmatchError && error.code === 'queue_full') return queueFull();
  if (error instanceof FullmatchError && error.code === 'storage_full') {
    return deferred(error.code, error.message, UNSUPPORTED_MS);
  }
  if (error instanceof FullmatchError && error.code === 'already_verified') {
    return { kind: 'verified', reason: 'already_verified' };
  }
  const failure = toVerificationFailure(error);
  const why = { reason: failure.code, detail: failure.message };
  if (failure.code === 'internal_error') {
    const facts = { event: 'creation_not_tried', chain_id: chainId, address, err: error };
    log.error(facts, 'a found contract could not be processed');
  }
  return outcomeOfFailure(tries, why, random);
}

/** Failures of this service's environment, which an operator may fix. */
const ENVIRONMENT_FAILURES: ReadonlySet<string> = new Set([
  'compiler_unavailable',
  'unsupported_compiler_version',
  'unsupported_language',
  'unsupported_chain',
]);

/**
 * Returns the outcome of a failed verification. The sources that bytecode names never change, so a mismatch
 * or a compiler error is final.
 * @param tries failed tries before this one
 */
export function outcomeOfFailure(
  tries: number,
  { reason, detail }: { readonly reason: string; readonly detail: string },
  random?: () => number,
): Extract<AttemptOutcome, { kind: 'waiting' | 'given_up' | 'gone' }> {
  if (reason === 'contract_not_deployed') {
    // The first endpoint used may not have the block yet.
    return tries === 0
      ? retryLater(1, { reason, detail, isPassing: true }, random)
      : { kind: 'gone', reason, detail };
  }
  if (reason === 'job_cancelled') return { kind: 'given_up', reason, detail };
  if (ENVIRONMENT_FAILURES.has(reason)) return retryLater(tries + 1, { reason, detail }, random);
  return failureKindOf(reason) === 'not_checked'
    ? retryLater(tries + 1, { reason, detail, isPassing: true }, random)
    : { kind: 'given_up', reason, detail };
}
