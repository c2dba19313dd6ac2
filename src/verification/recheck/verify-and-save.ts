import { setTimeout as sleep } from 'node:timers/promises';
import { FullmatchError } from '../../errors.ts';
import { type Logger } from '../../log.ts';
import {
  type CodeReading,
  type SavedMatch,
  type VerifiedContract,
  addOtherContracts,
  compilationId,
  contractChanged,
  readNewestEvent,
  saveMatch,
} from '../../repository/repository.ts';
import { type Database } from '../../store/database.ts';
import { withdrawWhatWasReplaced } from './code-check.ts';
import { replaceClaimedCreation } from './claimed-creation.ts';
import { isCreationDisproved } from './creation-check.ts';
import { attachLateCreation } from './late-creation.ts';
import {
  type KnownCodeParts,
  type KnownDeployment,
  verifyKnownCode,
} from '../known-codes/verify-known-code.ts';
import { type Deployment } from '../verification-request.ts';
import { type VerificationTask } from '../compilation/read-compilation-task.ts';
import {
  verifyContract,
  type VerificationParts,
  type VerificationResult,
} from '../verify-contract.ts';

/** What was read longer ago is read again before its match is stored, in milliseconds. */
const READING_MAX_AGE_MS = 3_000;
/** So many times a job begins with a new reading where the contract changes meanwhile. */
const MAX_READINGS = 3;
const READING_PAUSES_MS = [500, 2_000];

/**
 * Verifies the code that a contract has when the verification ends: where the compiler took long, the code is read again
 * by the same quorum, and so is the creation where the same code can have been recreated.
 * @throws FullmatchError contract_changed where the contract is another one by then; else as {@link verifyContract}.
 */
export function verifyCurrentCode(
  database: Database,
  parts: VerificationParts,
  task: VerificationTask,
  signal: AbortSignal,
  log: Logger,
): Promise<VerificationResult> {
  const current = withdrawWhatWasReplaced(database, parts, log);
  return requireCurrent(database, parts, task, signal, () => verifyContract(current, task, signal));
}

/**
 * The same by what is stored, without sources from anyone.
 * @returns undefined where nothing that is stored gives the code
 * @throws FullmatchError contract_changed; else as {@link verifyKnownCode}
 */
export function verifyCurrentKnownCode(
  parts: KnownCodeParts,
  deployment: KnownDeployment,
  signal: AbortSignal,
  log: Logger,
): Promise<VerificationResult | undefined> {
  const { database } = parts;
  const current = { ...parts, ...withdrawWhatWasReplaced(database, parts, log) };
  return requireCurrent(database, parts, deployment, signal, () =>
    verifyKnownCode(current, deployment, signal),
  );
}

/** Has a result say after which event the code was read, and reads the code again where that is long ago. */
async function requireCurrent<Result extends VerificationResult | undefined>(
  database: Database,
  parts: VerificationParts,
  { chainId, address }: Deployment,
  signal: AbortSignal,
  verify: () => Promise<Result>,
): Promise<Result> {
  const readAfterEvent = await readNewestEvent(database, chainId, address);
  const begun = performance.now();
  const result = await verify();
  if (result === undefined) return result;
  const contract = { ...result.contract, readAfterEvent };
  if (performance.now() - begun <= READING_MAX_AGE_MS) return { ...result, contract };
  const codeReading = await readAgain(database, parts, contract, signal);
  return { ...result, contract: { ...contract, codeReading } };
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

/** Reads once more where endpoints have a bad moment: a compilation of a minute is not thrown away for it. */
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

/** A verification that found a match, and what became of the match. */
export interface SavedVerification {
  readonly result: VerificationResult;
  readonly saved: SavedMatch;
}

/**
 * Stores what a verification gives, and its creation where the match that stays shown has none, or has one by the word of
 * an import. Where the contract changed since it was read, or others stored or withdrew something that contradicts the
 * reading, the verification begins again, a few times.
 * @returns undefined where the verification gives nothing
 * @throws FullmatchError contract_changed where it changed each time; else what `verify` and {@link saveMatch} throw.
 */
export async function verifyAndSave(
  database: Database,
  verify: () => Promise<VerificationResult>,
): Promise<SavedVerification>;
export async function verifyAndSave(
  database: Database,
  verify: () => Promise<VerificationResult | undefined>,
): Promise<SavedVerification | undefined>;
export async function verifyAndSave(
  database: Database,
  verify: () => Promise<VerificationResult | undefined>,
): Promise<SavedVerification | undefined> {
  for (let reading = 1; ; reading += 1) {
    try {
      const result = await verify();
      if (result === undefined) return undefined;
      const saved = await saveMatch(database, result.contract);
      const { contract, others = [] } = result;
      await addOtherContracts(database, compilationId(contract.compilation), others);
      if (saved.outcome !== 'unchanged') return { result, saved };
      await replaceClaimedCreation(database, result.contract);
      const attached = await attachLateCreation(database, result.contract);
      return { result, saved: attached ?? saved };
    } catch (error) {
      const isChanged = error instanceof FullmatchError && error.code === 'contract_changed';
      if (!isChanged || reading === MAX_READINGS) throw error;
    }
  }
}

/**
 * Verifies a contract by what is stored, and stores the match under the origin of whoever found the contract.
 * @returns undefined where nothing that is stored gives the code
 * @throws as {@link verifyCurrentKnownCode} and {@link verifyAndSave}
 */
export function verifyAndSaveKnownCode(
  parts: KnownCodeParts,
  deployment: KnownDeployment,
  origin: 'verified' | 'monitored',
  signal: AbortSignal,
  log: Logger,
): Promise<SavedVerification | undefined> {
  return verifyAndSave(parts.database, async () => {
    const result = await verifyCurrentKnownCode(parts, deployment, signal, log);
    return result && { ...result, contract: { ...result.contract, origin } };
  });
}
