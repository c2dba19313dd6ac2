// Verifies contracts with stored compilations: clones, redeployments and contracts created by others, without
// submitted sources.
import { maskCode, type MaskedCode } from '../../bytecode/masked-code.ts';
import { type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { type DeployedCode } from '../../chains/rpc/deployed-code.ts';
import { isDelegation } from '../../chains/rpc/delegation.ts';
import { FullmatchError } from '../../errors.ts';
import {
  findKnownCodes,
  findSimilarCodes,
  type KnownCandidate,
  readStoredCompilation,
  sha256,
} from '../../repository/repository.ts';
import { type Database, type Queryable } from '../../store/database.ts';
import { requireBytecodeSize } from '../code-size.ts';
import { requireDeployedLibraries } from '../compilation/linked-libraries.ts';
import { type ContractReading, readContract } from '../read-on-chain.ts';
import { failureKindOf, VerificationFailure } from '../verification-failure.ts';
import { type Deployment } from '../verification-request.ts';
import {
  isFullMatch,
  requireSupportedChain,
  toVerifiedContract,
  type VerificationParts,
  type VerificationResult,
  verifyContract,
} from '../verify-contract.ts';
import { KnownCodeCache } from './known-code-cache.ts';
import {
  wouldBeStoredUnchanged,
  judgeWithKnownCompilation,
  type KnownCompilation,
  mayDifferByFileOrder,
  readKnownCompilation,
  toKnownCompilation,
} from './known-compilation.ts';
import { readStoredTask } from './stored-task.ts';

/** Dependencies of verifying known bytecode: those of a verification, and the database. */
export interface KnownCodeParts extends VerificationParts {
  readonly database: Database;
  /** Cache shared between contracts; if absent, each contract is looked up separately. */
  readonly cache?: KnownCodeCache;
}

/**
 * A deployment, with its runtime bytecode if it was just read. If the index does not know that bytecode, no
 * endpoint is asked.
 */
export type KnownDeployment = Deployment & { readonly deployed?: DeployedCode };

/** Maximum number of candidates per deployment whose sources are compiled. */
const MAX_COMPILED = 2;

/** Failures caused by the stored data, after which the other candidates are still tried. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  'immutable_not_proven',
  'compiler_timeout',
  'compiler_out_of_memory',
  'compiler_output_too_large',
  'compiler_crashed',
  'compiler_unavailable',
  'compiler_checksum_mismatch',
  'malformed_compiler_output',
]);

/**
 * Verifies a deployment with stored compilations. The index proposes contracts with the same masked bytecode;
 * each is compared with the bytecode on chain by strict replay, under the rules of {@link verifyContract} and
 * with the same record. A contract that was verified before needs no compiler; another contract of stored
 * sources is compiled once. Stores nothing. The creation, which is more expensive to find than the code, is
 * searched only if a known bytecode matches.
 * @param given a reading of the contract; if absent, starts its own
 * @returns undefined if no stored compilation matches
 * @throws VerificationFailure if the check could not be completed; FullmatchError of the parts; the reason of
 * `signal`.
 */
export async function verifyKnownCode(
  parts: KnownCodeParts,
  deployment: KnownDeployment,
  signal: AbortSignal,
  given?: ContractReading,
): Promise<VerificationResult | undefined> {
  const chain = requireSupportedChain(parts, deployment);
  const cache = parts.cache ?? new KnownCodeCache();
  const { database } = parts;
  const hint = deployment.deployed?.code;
  if (hint !== undefined && !(await isAnyProposed(database, cache, hint))) return undefined;
  const reading = given ?? readContract(parts, chain, deployment, signal, deployment.deployed);
  try {
    const deployed = await reading.deployed();
    requireBytecodeSize('on chain', deployed.code.length);
    if (isDelegation(deployed.code)) return undefined;
    return await new Search(parts, cache, { deployment, chain, deployed, reading }, signal).run();
  } finally {
    if (given === undefined) reading.stop();
  }
}

/**
 * Yields all candidates for a bytecode: the one that recently matched it, those with its masked bytecode, and
 * similar ones.
 */
async function* propose(
  database: Queryable,
  cache: KnownCodeCache,
  code: Uint8Array,
): AsyncGenerator<KnownCandidate> {
  const codeHash = sha256(code).toString('base64');
  const remembered = cache.candidateOf(codeHash);
  if (remembered === null) return;
  if (remembered !== undefined) yield remembered;
  const masked = maskCode(code);
  const alike = cache.candidateOf(maskKeyOf(masked));
  let isAny = alike !== undefined && alike !== null;
  if (alike) yield alike;
  for await (const candidate of findKnownCodes(database, masked)) {
    isAny = true;
    yield candidate;
  }
  for (const candidate of await findSimilarCodes(database, masked)) {
    isAny = true;
    yield candidate;
  }
  if (!isAny) cache.keepCandidate(codeHash, undefined);
}

/** Bytecodes with the same key differ only in values or constants; a candidate for one usually matches the others. */
function maskKeyOf({ maskedHash, metadataKey }: MaskedCode): string {
  return Buffer.concat([maskedHash, metadataKey ?? Buffer.alloc(0)]).toString('base64');
}

async function isAnyProposed(
  database: Queryable,
  cache: KnownCodeCache,
  code: Uint8Array,
): Promise<boolean> {
  for await (const _candidate of propose(database, cache, code)) return true;
  return false;
}

/** A contract whose runtime bytecode has been read. */
interface ReadDeployment {
  readonly deployment: Deployment;
  readonly chain: RegisteredChain;
  readonly deployed: DeployedCode;
  readonly reading: ContractReading;
}

/** A search for the candidate that matches. */
class Search {
  readonly #parts: KnownCodeParts;
  readonly #cache: KnownCodeCache;
  readonly #contract: ReadDeployment;
  readonly #signal: AbortSignal;
  #compiled = 0;

  constructor(
    parts: KnownCodeParts,
    cache: KnownCodeCache,
    contract: ReadDeployment,
    signal: AbortSignal,
  ) {
    this.#parts = parts;
    this.#cache = cache;
    this.#contract = contract;
    this.#signal = signal;
  }

  /** Returns the first full match, otherwise the first match. */
  async run(): Promise<VerificationResult | undefined> {
    const { code } = this.#contract.deployed;
    const seen = new Set<string>();
    let partial: VerificationResult | undefined;
    for await (const candidate of propose(this.#parts.database, this.#cache, code)) {
      const key = `${candidate.compilationId} ${candidate.fullyQualifiedName}`;
      if (seen.has(key)) continue;
      seen.add(key);
      // Only a candidate with the metadata hash of the bytecode can be better than a partial match.
      if (partial !== undefined && !candidate.hasSameMetadata) break;
      const result = await this.#tryCandidate(candidate);
      if (result === undefined) continue;
      const isFull = isFullMatch(result.contract);
      this.#remember(code, candidate, isFull);
      if (isFull) return result;
      partial ??= result;
      if (!candidate.hasSameMetadata) break;
    }
    return partial;
  }

  /**
   * A full match is proven by the metadata, so it is also cached for similar bytecode. A partial match is
   * not, since it would come before better candidates.
   */
  #remember(code: Uint8Array, candidate: KnownCandidate, isFull: boolean): void {
    const codeHash = sha256(code).toString('base64');
    if (this.#cache.candidateOf(codeHash) === candidate) return;
    this.#cache.keepCandidate(codeHash, candidate);
    if (isFull) this.#cache.keepCandidate(maskKeyOf(maskCode(code)), candidate);
  }

  async #tryCandidate(candidate: KnownCandidate): Promise<VerificationResult | undefined> {
    this.#signal.throwIfAborted();
    try {
      const known = await this.#knownOf(candidate);
      if (known === undefined) return await this.#compile(candidate);
      const judged = await this.#judge(known, candidate);
      return judged === 'compile' ? await this.#compile(candidate) : judged;
    } catch (error) {
      if (this.#signal.aborted || !isOfCandidate(error)) throw error;
      return undefined;
    }
  }

  async #knownOf(candidate: KnownCandidate): Promise<KnownCompilation | undefined> {
    const kept = this.#cache.compilationOf(candidate);
    if (kept !== undefined || !candidate.isCompiled) return kept;
    const { compilationId: id } = candidate;
    const { database, sourceBytes } = this.#parts;
    const stored = await readStoredCompilation(database, id, sourceBytes);
    const known = stored && readKnownCompilation(stored.compilation, id, stored.gavePartial);
    if (known !== undefined) this.#cache.keepCompilation(candidate, known);
    return known;
  }

  /**
   * Compares with stored bytecode. Returns `compile` if it matches but a verification might store less than
   * this compilation, or if the files may have been compiled in another order.
   */
  async #judge(
    known: KnownCompilation,
    candidate: KnownCandidate,
  ): Promise<VerificationResult | 'compile' | undefined> {
    const { deployment, chain, deployed, reading } = this.#contract;
    const { address } = deployment;
    const codes = { runtimeCode: deployed.code };
    const alone = judgeWithKnownCompilation(known, address, codes);
    const isOpen = alone.runtime?.match === null && alone.runtime.reason === 'immutable_not_proven';
    if (alone.match === null && !isOpen) {
      return mayDifferByFileOrder(known, candidate) ? 'compile' : undefined;
    }
    const { creation, methods } = await reading.creation();
    if (creation) requireBytecodeSize('that created it', creation.creationCode.length);
    const judgement = creation
      ? judgeWithKnownCompilation(known, address, { ...codes, creationCode: creation.creationCode })
      : alone;
    if (judgement.match === null) return undefined;
    if (!wouldBeStoredUnchanged(known, judgement.match)) return 'compile';
    await requireDeployedLibraries(this.#parts, chain, new Map(), judgement, this.#signal);
    const onChain = { deployed, creation, methods };
    const contract = toVerifiedContract(deployment, known.compilation, onChain, judgement);
    return { contract, compileTimeMs: 0, droppedSources: [] };
  }

  /** Verifies with the stored sources as if they had been submitted, reusing what was already read from the chain. */
  async #compile(candidate: KnownCandidate): Promise<VerificationResult | undefined> {
    if (this.#compiled === MAX_COMPILED) return undefined;
    this.#compiled += 1;
    const { compilationId: id, fullyQualifiedName } = candidate;
    const { database, sourceBytes } = this.#parts;
    const stored = await readStoredCompilation(database, id, sourceBytes);
    if (stored === undefined) return undefined;
    const { deployment, reading } = this.#contract;
    const task = readStoredTask(stored.compilation, fullyQualifiedName, sourceBytes, deployment);
    const result = await verifyContract(this.#parts, task, this.#signal, reading);
    const { contract } = result;
    const known = toKnownCompilation(contract.compilation, !isFullMatch(contract));
    if (known !== undefined) this.#cache.keepCompilation(candidate, known);
    return result;
  }
}

/**
 * Returns whether an error only means that this candidate does not match or cannot be tried here, rather than
 * a failure to read the chain.
 */
function isOfCandidate(error: unknown): boolean {
  if (!(error instanceof VerificationFailure || error instanceof FullmatchError)) return false;
  return PASSED_OVER.has(error.code) || failureKindOf(error.code) !== 'not_checked';
}
