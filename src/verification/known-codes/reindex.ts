import { type Compilers } from '../../compilers/compilers.ts';
import { findVersion } from '../../compilers/compiler-version.ts';
import { mayHaveOtherContracts, selectRuntimeCodes } from '../../compilers/output-selection.ts';
import { FullmatchError } from '../../errors.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { mapInOrder } from '../../lib/map-in-order.ts';
import {
  addOtherContracts,
  type Compilation,
  isProjectIndexed,
  listUnindexed,
  markIndexed,
  sha256,
} from '../../repository/repository.ts';
import { type Database } from '../../store/database.ts';
import { type JobReader } from '../compilation/job-reader.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { readStoredTask, requireStoredCompilation } from './stored-task.ts';

/** Dependencies of reindexing. */
export interface ReindexParts {
  readonly database: Database;
  readonly compilers: Pick<Compilers, 'compileToBytes' | 'listUsable'>;
  readonly reader: Pick<JobReader, 'ask'>;
  /** Limit on the source text of a contract, in bytes. */
  readonly sourceBytes: number;
}

/** Result for a compilation: the number of contracts in its sources, or why there is nothing to index. */
export interface Reindexed {
  readonly compilationId: string;
  readonly contracts: number;
  /** An error code; absent if all contracts are indexed. */
  readonly reason?: string;
}

const PASSING_REASONS: ReadonlySet<string> = new Set([
  'compiler_unavailable',
  'compiler_timeout',
  'compiler_out_of_memory',
  'compiler_crashed',
]);

/** Returns whether a reason is specific to this machine rather than to the sources, so that the next run retries. */
export const isPassingReason = (reason: string): boolean => PASSING_REASONS.has(reason);

/**
 * Compiles the sources of every verified contract whose other contracts are not indexed yet, so that they can
 * be found by their bytecode. Uses only compilers on this machine. Progress is recorded, so an interrupted
 * run can continue.
 * @param chainId restricts the run to one chain
 * @param workers number of concurrent compilations
 * @throws the reason of `signal`; FullmatchError of the database, or at shutdown
 */
export function reindex(
  parts: ReindexParts,
  { chainId, workers }: { readonly chainId?: number | undefined; readonly workers: number },
  signal: AbortSignal,
): AsyncGenerator<Reindexed> {
  return mapInOrder(listUnindexed(parts.database, chainId), workers, (id) =>
    reindexOne(parts, id, signal),
  );
}

async function reindexOne(
  parts: ReindexParts,
  compilationId: string,
  signal: AbortSignal,
): Promise<Reindexed> {
  const { database } = parts;
  try {
    const { contracts, projectHash } = await indexAll(parts, compilationId, signal);
    await markIndexed(database, compilationId, projectHash);
    return { compilationId, contracts };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof VerificationFailure || error instanceof FullmatchError)) throw error;
    const { code } = error;
    if (code.startsWith('database_')) throw error;
    if (!isPassingReason(code)) await markIndexed(database, compilationId);
    return { compilationId, contracts: 0, reason: code };
  }
}

async function indexAll(
  { database, compilers, reader, sourceBytes }: ReindexParts,
  compilationId: string,
  signal: AbortSignal,
): Promise<{ readonly contracts: number; readonly projectHash?: Uint8Array }> {
  const compilation = await requireStoredCompilation(database, compilationId, sourceBytes);
  const texts = compilation.sources.map(({ content }) => content);
  if (compilation.language !== 'solidity') return { contracts: 0 };
  if (compilation.runtimeCode !== undefined && !mayHaveOtherContracts(texts)) {
    return { contracts: 0 };
  }
  const projectHash = hashProject(compilation);
  if (await isProjectIndexed(database, projectHash)) return { contracts: 0, projectHash };
  const { task } = readStoredTask(compilation, compilation.fullyQualifiedName, sourceBytes);
  const { language, version } = task;
  await requireInstalled(compilers, version);
  const input = selectRuntimeCodes(task.input);
  const output = await compilers.compileToBytes({ language, version, input, signal });
  const contracts = await reader.ask({ read: 'codes', ...output }, signal);
  await addOtherContracts(database, compilationId, contracts);
  return { contracts: contracts.length, projectHash };
}

/** @throws FullmatchError compiler_unavailable */
async function requireInstalled(
  compilers: Pick<Compilers, 'listUsable'>,
  version: string,
): Promise<void> {
  const usable = await compilers.listUsable();
  const installed = usable.filter(
    ({ compiler, isInstalled }) => compiler !== 'vyper' && isInstalled,
  );
  const versions = installed.map(({ longVersion }) => longVersion);
  if (findVersion(version, versions) !== undefined) return;
  throw new FullmatchError(
    'compiler_unavailable',
    `The compiler ${version} is not installed; run: fullmatch compilers fetch ${version}`,
  );
}

/** Hash that is equal for compilations with the same other contracts. */
function hashProject({ language, compiler, version, settings, sources }: Compilation): Buffer {
  const files = sources.map(({ path, content }) => [path, bytesToHex(sha256(content))] as const);
  const project = { language, compiler, version, settings, files: Object.fromEntries(files) };
  return sha256(canonicalJson(project));
}
