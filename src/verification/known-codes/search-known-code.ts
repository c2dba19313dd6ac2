// Searches stored contracts by submitted bytecode, without reading a chain or storing anything.
import { findCodecopyRanges } from '../../bytecode/codecopy-ranges.ts';
import { maskCode } from '../../bytecode/masked-code.ts';
import { FullmatchError } from '../../errors.ts';
import { Admission } from '../../lib/admission.ts';
import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { EventLoopYielder } from '../../lib/event-loop-yielder.ts';
import {
  type Compilation,
  findKnownCodes,
  isCompilationCurrent,
  type KnownCandidate,
  readCurrentCompilation,
  type CurrentCompilation,
  readStoredCompilation,
} from '../../repository/repository.ts';
import { type Queryable } from '../../store/database.ts';
import {
  type Requester,
  type SubmittedCodeVerifier,
} from '../submitted-codes/submitted-code-verifier.ts';
import {
  type SubmittedCodes,
  type SubmittedCodeMatch,
} from '../submitted-codes/submitted-codes.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { packRequest } from '../verification-request.ts';
import { type KnownCodeCache } from './known-code-cache.ts';
import {
  judgeWithKnownCompilation,
  mayDifferByFileOrder,
  readKnownCompilation,
} from './known-compilation.ts';
import { describeStoredTask } from './stored-task.ts';

/** Bytecode of a deployment, and its location if known: a contract verified there is tried first. */
export type SearchedCode = SubmittedCodes & { readonly chainId?: number };

/** A verified contract, with the data that an explorer needs. */
export interface StoredMatch extends Pick<
  CurrentCompilation,
  'match' | 'creationValues' | 'runtimeValues'
> {
  readonly compilation: Compilation;
}

/** Search of stored contracts for callers without database access. */
export interface KnownCodeSearch {
  /**
   * Finds the stored contract that a bytecode comes from, judged by strict replay: a full match, otherwise
   * the first partial one. Finds only currently verified contracts. If the candidate is another contract of
   * stored sources, it is compiled once, provided that this process compiles.
   * @throws FullmatchError queue_full
   */
  search(code: SearchedCode, requester: Requester): Promise<SubmittedCodeMatch | undefined>;
  /**
   * Reads the contract verified at an address; undefined if there is none, or its sources are too large.
   * @throws FullmatchError queue_full
   */
  readStored(chainId: number, address: Hex, requester: Requester): Promise<StoredMatch | undefined>;
}

/** Dependencies of the search. */
export interface SearchParts {
  readonly database: Queryable;
  readonly cache: KnownCodeCache;
  readonly sourceBytes: number;
  /** Compiles the sources of other contracts; absent if this process does not compile. */
  readonly given?: SubmittedCodeVerifier;
}

/** Each search may hold the sources of a contract in memory. */
const SEARCHES = { total: 4, waiting: 64, waitingPerClient: 16, waitMs: 30_000 };
/** Maximum number of candidates compared with a bytecode. */
const MAX_TRIED = 8;
const NO_PLACE = { chainId: 0, address: '0x' } as const;

/** Creates the search. */
export function createKnownCodeSearch(parts: SearchParts): KnownCodeSearch {
  const searches = new Admission(SEARCHES, tooManySearches);
  return {
    search: (code, requester) =>
      searches.run(requester.client, () => search(parts, code, requester)),
    readStored: (chainId, address, { client }) =>
      searches.run(client, async () => {
        const current = await readCurrentCompilation(parts.database, chainId, address);
        if (current === undefined) return undefined;
        const { compilationId, ...facts } = current;
        const { database, sourceBytes } = parts;
        const stored = await readStoredCompilation(database, compilationId, sourceBytes);
        return stored && { ...facts, compilation: stored.compilation };
      }),
  };
}

function tooManySearches(): FullmatchError {
  return new FullmatchError('queue_full', 'Too many searches are waiting; try again later.', {
    details: { retryAfterSeconds: 5 },
  });
}

async function search(
  parts: SearchParts,
  code: SearchedCode,
  requester: Requester,
): Promise<SubmittedCodeMatch | undefined> {
  let partial: SubmittedCodeMatch | undefined;
  let tried = 0;
  let mayCompile = parts.given !== undefined;
  const seen = new Set<string>();
  const pauses = new EventLoopYielder();
  for await (const candidate of propose(parts.database, code)) {
    requester.signal.throwIfAborted();
    const key = `${candidate.compilationId} ${candidate.fullyQualifiedName}`;
    if (seen.has(key)) continue;
    seen.add(key);
    // Only a candidate with the metadata hash of the bytecode can be better than a partial match.
    if (partial !== undefined && !candidate.hasSameMetadata) continue;
    if ((tried += 1) > MAX_TRIED) break;
    await pauses.take();
    const judged = await judge(parts, candidate, code, mayCompile ? requester : undefined);
    if (judged === undefined) continue;
    if (judged.isCompiledNow) mayCompile = false;
    if (judged.found?.judgement.match === 'full') return judged.found;
    partial ??= judged.found;
  }
  return partial;
}

/** Yields the contract verified at the given location, then the candidates from the index. */
async function* propose(
  database: Queryable,
  { chainId, address, creationCode, runtimeCode }: SearchedCode,
): AsyncGenerator<KnownCandidate> {
  if (chainId !== undefined) {
    const current = await readCurrentCompilation(database, chainId, address);
    if (current !== undefined) {
      const { compilationId } = current;
      yield { compilationId, fullyQualifiedName: '', isCompiled: true, hasSameMetadata: true };
    }
  }
  const codes = [runtimeCode, creationCode].map((hex) => hex && hexToBytes(hex));
  const [running, creating] = codes;
  const pauses = new EventLoopYielder();
  for (const part of running ? [running] : findCodecopyRanges(creating ?? Buffer.alloc(0))) {
    await pauses.take();
    yield* findKnownCodes(database, maskCode(part));
  }
}

interface Judged {
  readonly found: SubmittedCodeMatch | undefined;
  /** Whether a compiler was used. */
  readonly isCompiledNow: boolean;
}

async function judge(
  { database, cache, sourceBytes, given }: SearchParts,
  candidate: KnownCandidate,
  code: SearchedCode,
  requester: Requester | undefined,
): Promise<Judged | undefined> {
  const { compilationId: id, isCompiled, fullyQualifiedName } = candidate;
  if (!(await isCompilationCurrent(database, id))) return undefined;
  const kept = cache.compilationOf(candidate);
  const stored =
    kept === undefined ? await readStoredCompilation(database, id, sourceBytes) : undefined;
  if (kept === undefined && stored === undefined) return undefined;
  const known =
    kept ??
    (stored && isCompiled
      ? readKnownCompilation(stored.compilation, id, stored.gavePartial)
      : undefined);
  if (known !== undefined) {
    if (kept === undefined && fullyQualifiedName !== '') cache.keepCompilation(candidate, known);
    const { address, creationCode, runtimeCode } = code;
    const judgement = judgeWithKnownCompilation(known, address, {
      ...(creationCode && { creationCode: hexToBytes(creationCode) }),
      ...(runtimeCode && { runtimeCode: hexToBytes(runtimeCode) }),
    });
    if (judgement.match !== null) return { found: { ...known, judgement }, isCompiledNow: false };
    if (!mayDifferByFileOrder(known, candidate)) return { found: undefined, isCompiledNow: false };
  }
  const compilation = stored?.compilation ?? known?.compilation;
  if (compilation === undefined || given === undefined || requester === undefined) return undefined;
  const name = fullyQualifiedName === '' ? compilation.fullyQualifiedName : fullyQualifiedName;
  const task = describeStoredTask(compilation, name);
  try {
    const request = packRequest({ ...NO_PLACE, compilation: task });
    const [found] = await given.verify({ request, codes: [code] }, requester);
    return { found, isCompiledNow: true };
  } catch (error) {
    // If the stored sources no longer compile, the other candidates are unaffected.
    if (error instanceof VerificationFailure) return { found: undefined, isCompiledNow: true };
    if (error instanceof FullmatchError && error.code.startsWith('compiler_')) {
      return { found: undefined, isCompiledNow: true };
    }
    throw error;
  }
}
