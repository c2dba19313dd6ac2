// Verifies contracts by what is stored: clones, redeployments and contracts that others made, without sources from anyone.
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
import { requireBounded } from '../code-size.ts';
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
  isStoredAsIs,
  judgeByKnown,
  type KnownCompilation,
  mayHaveOtherFileOrder,
  readKnownCompilation,
  toKnownCompilation,
} from './known-compilation.ts';
import { readStoredTask } from './stored-task.ts';

/** What verifying known codes needs: all that a verification does, and the index. */
export interface KnownCodeParts extends VerificationParts {
  readonly database: Database;
  /** What is remembered from one contract to the next; without it each one is looked up anew. */
  readonly cache?: KnownCodeCache;
}

/** A deployment, with its running code where somebody read it a moment ago: what is not known by it costs the chain nothing. */
export type KnownDeployment = Deployment & { readonly deployed?: DeployedCode };

/** Candidates whose sources have to be compiled, for one deployment. */
const MOST_COMPILED = 2;

/** Failures that are due to what is stored, and leave the other candidates as they are. */
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
 * Verifies a deployment by the compilations that are stored. The index proposes contracts whose masked code is that of the
 * deployment; each is held against the code on chain by strict replay, with the rules of {@link verifyContract} and to the
 * same record. A contract that was verified before needs no compiler; another one of stored sources is compiled once.
 * Stores nothing. The creation, which costs endpoints and explorers more than the code, is looked for only where a known code
 * is that of the contract.
 * @param given what is read of the contract; without it a reading of its own
 * @returns undefined where no stored compilation gives the code.
 * @throws VerificationFailure where it could not be found out; FullmatchError of the parts; the reason of `signal`.
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
    requireBounded('on chain', deployed.code.length);
    if (isDelegation(deployed.code)) return undefined;
    return await new Search(parts, cache, { deployment, chain, deployed, reading }, signal).run();
  } finally {
    if (given === undefined) reading.stop();
  }
}

/** All candidates for a code: the one that gave it a moment ago, those of its masked code, and those that are similar. */
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

/** Codes with one key differ in values alone, or in constants: what gave one of them has given most. */
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

/** A contract whose running code was read. */
interface ReadDeployment {
  readonly deployment: Deployment;
  readonly chain: RegisteredChain;
  readonly deployed: DeployedCode;
  readonly reading: ContractReading;
}

/** The search for the candidate that gives a code. */
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

  /** The first candidate that matches in full, or else the first that matches. */
  async run(): Promise<VerificationResult | undefined> {
    const { code } = this.#contract.deployed;
    const seen = new Set<string>();
    let partial: VerificationResult | undefined;
    for await (const candidate of propose(this.#parts.database, this.#cache, code)) {
      const key = `${candidate.compilationId} ${candidate.fullyQualifiedName}`;
      if (seen.has(key)) continue;
      seen.add(key);
      // Only candidates with the metadata of the code can be better than a partial match.
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

  /** A text that matches in full is proven by the metadata; one that does not must not come before better ones. */
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
   * Judges by stored codes. `compile` where they match, and a verification might store less than them, and where the files
   * may have come to the compiler in another order.
   */
  async #judge(
    known: KnownCompilation,
    candidate: KnownCandidate,
  ): Promise<VerificationResult | 'compile' | undefined> {
    const { deployment, chain, deployed, reading } = this.#contract;
    const { address } = deployment;
    const codes = { runtimeCode: deployed.code };
    const alone = judgeByKnown(known, address, codes);
    const isOpen = alone.runtime?.match === null && alone.runtime.reason === 'immutable_not_proven';
    if (alone.match === null && !isOpen) {
      return mayHaveOtherFileOrder(known, candidate) ? 'compile' : undefined;
    }
    const { creation, methods } = await reading.creation();
    if (creation) requireBounded('that created it', creation.creationCode.length);
    const judgement = creation
      ? judgeByKnown(known, address, { ...codes, creationCode: creation.creationCode })
      : alone;
    if (judgement.match === null) return undefined;
    if (!isStoredAsIs(known, judgement.match)) return 'compile';
    await requireDeployedLibraries(this.#parts, chain, new Map(), judgement, this.#signal);
    const onChain = { deployed, creation, methods };
    const contract = toVerifiedContract(deployment, known.compilation, onChain, judgement);
    return { contract, compileTimeMs: 0, droppedSources: [] };
  }

  /** Verifies with the stored sources as if somebody had submitted them, with what was read of the chain already. */
  async #compile(candidate: KnownCandidate): Promise<VerificationResult | undefined> {
    if (this.#compiled === MOST_COMPILED) return undefined;
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

/** Whether a fault says that the candidate does not give the code, or cannot be tried here, and nothing of the chain. */
function isOfCandidate(error: unknown): boolean {
  if (!(error instanceof VerificationFailure || error instanceof FullmatchError)) return false;
  return PASSED_OVER.has(error.code) || failureKindOf(error.code) !== 'not_checked';
}
