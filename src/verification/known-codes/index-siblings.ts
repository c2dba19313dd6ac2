import { type Compilers } from '../../compilers/compilers.ts';
import { findVersion } from '../../compilers/compiler-version.ts';
import { selectRunningCodes } from '../../compilers/output-selection.ts';
import { FullmatchError } from '../../errors.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { bytesToHex } from '../../lib/hex.ts';
import {
  addKnownCodes,
  type Compilation,
  isProjectKnown,
  readStoredCompilation,
  settleProject,
  type SettledProject,
  sha256,
  takeProject,
} from '../../repository/repository.ts';
import { type Database } from '../../store/database.ts';
import { type JobReader } from '../compilation/job-reader.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { readStoredTask } from './stored-task.ts';

/** What the other contracts of stored sources are compiled by. */
export interface SiblingParts {
  readonly database: Database;
  readonly compilers: Pick<Compilers, 'compileToBytes' | 'listUsable'>;
  readonly reader: Pick<JobReader, 'readRunningCodes'>;
  /** How much source text of a contract is kept, in bytes. */
  readonly sourceBytes: number;
}

/** After so many tries that failed a project is left alone. */
const MOST_TRIES = 4;
const FIRST_RETRY_SECONDS = 600;
const RETRY_FACTOR = 12;
/** A compiler may be put into the folder any day. */
const COMPILER_RETRY_SECONDS = 86_400;
const COMPILER_TRIES = 8;

/** A source has other contracts only where one of these words stands twice. */
const DECLARATION = /\b(?:contract|library)\b/g;

/** How one project was worked on: `idle` none is due, `gave_way` the signal ended it, `settled` it was put down as done or failed. */
export type SiblingOutcome = 'idle' | 'gave_way' | 'settled';

/**
 * Compiles the sources of the next stored compilation that is due, and adds every contract in them to the index: such as
 * those that a verified factory makes. Only compilers on this machine are used.
 * @param signal ends the compilation, which then counts as not tried
 */
export async function indexNextProject(
  parts: SiblingParts,
  signal: AbortSignal,
): Promise<SiblingOutcome> {
  const { database } = parts;
  if (signal.aborted) return 'gave_way';
  const taken = await takeProject(database);
  if (taken === undefined) return 'idle';
  const { compilationId, tries } = taken;
  try {
    await settleProject(database, compilationId, await index(parts, compilationId, tries, signal));
    return 'settled';
  } catch (error) {
    if (!signal.aborted) {
      await settleProject(database, compilationId, retryLater(tries, error));
      return 'settled';
    }
    await settleProject(database, compilationId, { retrySeconds: 0, gaveWay: true });
    return 'gave_way';
  }
}

function retryLater(tries: number, error: unknown): SettledProject {
  const isKnown = error instanceof VerificationFailure || error instanceof FullmatchError;
  const reason = isKnown ? error.code : 'internal_error';
  if (error instanceof VerificationFailure || tries >= MOST_TRIES) return { reason };
  return { reason, retrySeconds: FIRST_RETRY_SECONDS * RETRY_FACTOR ** (tries - 1) };
}

async function index(
  parts: SiblingParts,
  compilationId: string,
  tries: number,
  signal: AbortSignal,
): Promise<SettledProject> {
  const { database, compilers, reader, sourceBytes } = parts;
  const stored = await readStoredCompilation(database, compilationId, sourceBytes);
  if (stored === undefined) return { reason: 'sources_too_large' };
  const { compilation } = stored;
  if (compilation.language !== 'solidity') return { reason: 'unsupported_language' };
  if (compilation.runtimeCode !== undefined && !mayHaveOthers(compilation)) return {};
  const projectHash = hashProject(compilation);
  if (await isProjectKnown(database, projectHash)) return { projectHash };
  const { task } = readStoredTask(compilation, compilation.fullyQualifiedName, sourceBytes);
  const usable = await compilers.listUsable();
  const installed = usable.filter(
    ({ compiler, isInstalled }) => compiler !== 'vyper' && isInstalled,
  );
  const versions = installed.map(({ longVersion }) => longVersion);
  if (findVersion(task.version, versions) === undefined) {
    const retrySeconds = tries < COMPILER_TRIES ? COMPILER_RETRY_SECONDS : undefined;
    return { reason: 'compiler_unavailable', ...(retrySeconds && { retrySeconds }) };
  }
  const { language, version } = task;
  const input = selectRunningCodes(task.input);
  const output = await compilers.compileToBytes({ language, version, input, signal });
  const contracts = await reader.readRunningCodes(output, signal);
  signal.throwIfAborted();
  await database.transaction(async (transaction) =>
    addKnownCodes(
      transaction,
      contracts
        .map(({ path, name, code }) => ({ fullyQualifiedName: `${path}:${name}`, code }))
        .map((contract) => ({ ...contract, compilationId, isCompiled: false })),
    ),
  );
  return { projectHash };
}

function mayHaveOthers({ sources }: Compilation): boolean {
  let declarations = 0;
  for (const { content } of sources) {
    const found = content.matchAll(DECLARATION);
    while (found.next().done !== true) {
      declarations += 1;
      if (declarations > 1) return true;
    }
  }
  return false;
}

function hashProject({ language, compiler, version, settings, sources }: Compilation): Buffer {
  const files = sources.map(({ path, content }) => [path, bytesToHex(sha256(content))] as const);
  const project = { language, compiler, version, settings, files: Object.fromEntries(files) };
  return sha256(canonicalJson(project));
}
