import { setTimeout as sleep } from 'node:timers/promises';
import { type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type Logger } from '../../log.ts';
import {
  type CodeReading,
  type Contradiction,
  type SavedMatch,
  type VerifiedContract,
  addOtherContracts,
  compilationId,
  contractChanged,
  readNewestEvent,
  saveMatch,
  settleContradictions,
  withdrawContradicted,
} from '../../repository/repository.ts';
import { type Database, type Queryable } from '../../store/database.ts';
import { findContradictedMatch, logRecheckOutcome, readMatchedCode } from './code-check.ts';
import { isCreationDisproved, reconcileCreation } from './creation-check.ts';
import { attachLateCreation } from './late-creation.ts';
import {
  type KnownCodeParts,
  type KnownDeployment,
  verifyKnownCode,
} from '../known-codes/verify-known-code.ts';
import { type ContractReading, once, readContract, readingOptions } from '../read-on-chain.ts';
import { type VerificationTask } from '../compilation/read-compilation-task.ts';
import {
  requireSupportedChain,
  verifyContract,
  type VerificationParts,
  type VerificationResult,
} from '../verify-contract.ts';

/** Maximum age of a reading when its match is stored, in milliseconds. Older readings are repeated. */
const READING_MAX_AGE_MS = 3_000;
/** Maximum number of readings of a job if the contract keeps changing. */
const MAX_READINGS = 3;
const READING_PAUSES_MS = [500, 2_000];

/**
 * Verifies the bytecode that a contract has when the verification ends. If compiling took long, reads the
 * bytecode again by the same quorum, and also the creation if the code can have been recreated. Writes
 * nothing.
 * @param contradicted collects the stored data that the chain contradicts, even if the verification fails
 * @throws FullmatchError contract_changed if the contract has changed by then; otherwise as {@link
 * verifyContract}.
 */
export function verifyCurrentCode(
  database: Database,
  parts: VerificationParts,
  task: VerificationTask,
  signal: AbortSignal,
  contradicted: Contradiction[],
): Promise<VerificationResult> {
  return verifyReading({ ...parts, database }, task, signal, contradicted, (reading) =>
    verifyContract(parts, task, signal, reading),
  );
}

/**
 * Does the same with stored compilations, without submitted sources.
 * @returns undefined if no stored compilation matches
 * @throws FullmatchError contract_changed; otherwise as {@link verifyKnownCode}
 */
export function verifyCurrentKnownCode(
  parts: KnownCodeParts,
  deployment: KnownDeployment,
  signal: AbortSignal,
  contradicted: Contradiction[],
  verify = verifyKnownCode,
): Promise<VerificationResult | undefined> {
  return verifyReading(parts, deployment, signal, contradicted, (reading) =>
    verify(parts, deployment, signal, reading),
  );
}

/**
 * Reads a contract, compares the reading with the stored data, verifies it, and reads the bytecode again if
 * that took long.
 */
async function verifyReading<Result extends VerificationResult | undefined>(
  parts: VerificationParts & { readonly database: Database },
  deployment: KnownDeployment,
  signal: AbortSignal,
  contradicted: Contradiction[],
  verify: (reading: ContractReading) => Promise<Result>,
): Promise<Result> {
  const { database } = parts;
  const { chainId, address, deployed } = deployment;
  const chain = requireSupportedChain(parts, deployment);
  // Read before the chain, but only if the chain is read at all.
  const newestEvent = once(() => readNewestEvent(database, chainId, address));
  const begun = performance.now();
  const reading = readContract(parts, chain, deployment, signal, deployed);
  const checked = { ...parts, chain, address, newestEvent };
  try {
    const result = await verify(reconcile(checked, reading, signal, contradicted));
    if (result === undefined) return result;
    const contract = { ...result.contract, readAfterEvent: await newestEvent() };
    if (performance.now() - begun <= READING_MAX_AGE_MS) return { ...result, contract };
    const codeReading = await readAgain(database, parts, contract, signal);
    return { ...result, contract: { ...contract, codeReading } };
  } finally {
    reading.stop();
  }
}

/** Dependencies of comparing a reading with the stored data, as of an event that is read first. */
interface ReconciledParts extends VerificationParts {
  readonly database: Database;
  readonly chain: RegisteredChain;
  readonly address: Hex;
  readonly newestEvent: () => Promise<string>;
}

/** Wraps a reading so that it is compared with the stored data. Contradictions are collected; nothing is written. */
function reconcile(
  { newestEvent, ...parts }: ReconciledParts,
  reading: ContractReading,
  signal: AbortSignal,
  contradicted: Contradiction[],
): ContractReading {
  const { database, chain, address } = parts;
  const { chainId } = chain.record;
  const deployed = once(async () => {
    await newestEvent();
    const matched = await readMatchedCode(database, chainId, address);
    const running = await reading.deployed();
    const found = await findContradictedMatch(database, chain, address, matched, running);
    if (found !== undefined) contradicted.push(found);
    return running;
  });
  const creation = once(async () => {
    const running = await deployed();
    const options = readingOptions(parts, chainId, signal);
    const checked = { database, parts, chain, address, running, options };
    return reconcileCreation(checked, await reading.creation(), contradicted);
  });
  return { deployed, creation, stop: reading.stop };
}

async function readAgain(
  database: Database,
  parts: VerificationParts,
  { chainId, address, deployment }: VerifiedContract,
  signal: AbortSignal,
): Promise<CodeReading> {
  const { runtimeCode, transactionHash } = deployment;
  const chain = parts.findSupportedChain(chainId);
  if (chain === undefined || runtimeCode === undefined) throw contractChanged(chainId, address);
  const quorum = parts.quorumOf(chainId);
  const options = { signal, ...(quorum && { quorum }) };
  const running = await readWithRetry(
    () => parts.readDeployedCode(chain, address, options),
    signal,
  );
  if (Buffer.compare(running.code, runtimeCode) !== 0) throw contractChanged(chainId, address);
  const checked = { database, parts, chain, address, running, options };
  if (transactionHash !== undefined && (await isCreationDisproved(checked, transactionHash))) {
    throw contractChanged(chainId, address);
  }
  const { blockNumber, blockHash, endpoints, witnesses } = running;
  return { blockNumber, blockHash, endpoints, witnesses };
}

/** Retries a read if endpoints fail temporarily, so that a long compilation is not lost. */
async function readWithRetry<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const pauseMs of READING_PAUSES_MS) {
    try {
      return await read();
    } catch (error) {
      const isPassing = error instanceof FullmatchError && error.code !== 'contract_not_deployed';
      if (!isPassing) throw error;
      await sleep(pauseMs, undefined, { signal });
    }
  }
  return read();
}

/** A verification that found a match, and how the match was saved. */
export interface SavedVerification {
  readonly result: VerificationResult;
  readonly saved: SavedMatch;
}

/**
 * Verifies a contract.
 * @param contradicted collects the stored data that the chain contradicts
 */
type Verify<Result> = (contradicted: Contradiction[]) => Promise<Result>;

/**
 * Verifies, and writes the result in one transaction: withdraws what the chain contradicts, stores the match,
 * and attaches its creation if the match that remains shown has none. If the contract has changed since it
 * was read, or a concurrent write contradicts the reading, the verification is repeated a few times.
 * @returns undefined if the verification returns nothing
 * @throws FullmatchError contract_changed if it changed each time; otherwise what `verify` and {@link
 * saveMatch} throw.
 */
export async function verifyAndSave(
  database: Database,
  verify: Verify<VerificationResult>,
  log: Logger,
): Promise<SavedVerification>;
export async function verifyAndSave(
  database: Database,
  verify: Verify<VerificationResult | undefined>,
  log: Logger,
): Promise<SavedVerification | undefined>;
export async function verifyAndSave(
  database: Database,
  verify: Verify<VerificationResult | undefined>,
  log: Logger,
): Promise<SavedVerification | undefined> {
  for (let reading = 1; ; reading += 1) {
    const contradicted: Contradiction[] = [];
    try {
      const result = await verify(contradicted);
      if (result !== undefined) return await save(database, result, contradicted, log);
      logWithdrawn(log, await settleContradictions(database, contradicted));
      return undefined;
    } catch (error) {
      const isChanged = error instanceof FullmatchError && error.code === 'contract_changed';
      if (isChanged && reading < MAX_READINGS) continue;
      // The contradictions are valid even without a match.
      if (!isChanged) logWithdrawn(log, await settleContradictions(database, contradicted));
      throw error;
    }
  }
}

async function save(
  database: Database,
  result: VerificationResult,
  contradicted: readonly Contradiction[],
  log: Logger,
): Promise<SavedVerification> {
  const { contract, others = [] } = result;
  let withdrawn: readonly Contradiction[] = [];
  const saved = await saveMatch(database, contract, {
    ...(contradicted.length > 0 && {
      before: async (transaction: Queryable) => {
        withdrawn = await withdrawContradicted(transaction, contradicted);
      },
    }),
    otherwise: (transaction) => attachLateCreation(transaction, contract),
  });
  logWithdrawn(log, withdrawn);
  await addOtherContracts(database, compilationId(contract.compilation), others);
  return { result, saved };
}

function logWithdrawn(log: Logger, withdrawn: readonly Contradiction[]): void {
  for (const { chainId, address, reason } of withdrawn) {
    logRecheckOutcome(log, chainId, address, reason);
  }
}

/**
 * Verifies a contract with stored compilations and stores the match under the given origin.
 * @returns undefined if no stored compilation matches
 * @throws as {@link verifyCurrentKnownCode} and {@link verifyAndSave}
 */
export function verifyAndSaveKnownCode(
  parts: KnownCodeParts,
  { deployed, ...deployment }: KnownDeployment,
  origin: 'verified' | 'monitored',
  signal: AbortSignal,
  log: Logger,
  verify = verifyKnownCode,
): Promise<SavedVerification | undefined> {
  let readBefore = deployed;
  const verifyOnce = async (
    contradicted: Contradiction[],
  ): Promise<VerificationResult | undefined> => {
    const asked = { ...deployment, ...(readBefore && { deployed: readBefore }) };
    // A retry reads the bytecode again.
    readBefore = undefined;
    const result = await verifyCurrentKnownCode(parts, asked, signal, contradicted, verify);
    return result && { ...result, contract: { ...result.contract, origin } };
  };
  return verifyAndSave(parts.database, verifyOnce, log);
}
