import { createHash } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { FullmatchError, messageOf } from '../errors.ts';
import { downloadParquet, type DownloadProgress } from '../importer/download-parquet.ts';
import { readImportCursor, saveImportCursor } from '../importer/import-cursors.ts';
import { type ImportOptions } from '../importer/import-repository.ts';
import { type ImportSummary } from '../importer/import-tally.ts';
import { RemoteSource } from '../importer/remote-source.ts';
import { findParquet, STAGED_TABLES, stageParquet } from '../importer/stage-parquet.ts';
import { type StagingProgress } from '../importer/staging-progress.ts';
import { unusableSource } from '../importer/unusable-source.ts';
import { hasFeed } from '../importer/walk-instance.ts';
import { Secret } from '../lib/secret.ts';
import { type Logger } from '../log.ts';
import { type ConnectionTarget, targetOfUrl } from '../store/connection-target.ts';
import { type Store } from '../store/open-store.ts';
import { createDatabasePool } from '../store/pool.ts';
import { type CliContext } from './cli-context.ts';
import { formatCount, formatSeconds } from './import-report.ts';
import { showProgress } from './progress-line.ts';
import { invalid } from './read-argument.ts';

/** Contracts read concurrently. */
const CONNECTIONS = 8;

/** Source of an import: a path, a database, or a web server. */
export type ImportSource =
  | { readonly kind: 'path'; readonly name: string }
  | { readonly kind: 'database'; readonly name: string; readonly target: ConnectionTarget }
  | { readonly kind: 'web'; readonly name: string };

/** Dependencies and options of an import. */
export interface ImportParts {
  readonly store: Store;
  /** The service's data folder, for downloads. */
  readonly dataDir: string;
  readonly log: Logger;
  readonly context: CliContext;
  readonly dryRun: boolean;
  /** Whether to read another service's whole feed again. */
  readonly whole: boolean;
}

type Load = (from?: ImportOptions['from']) => Promise<ImportSummary>;

/**
 * Returns the source that the arguments name.
 * @throws FullmatchError `import_path_unusable`, `invalid_configuration`
 */
export async function findImportSource(
  path: string | undefined,
  from: unknown,
  { workingDirectory }: CliContext,
): Promise<ImportSource> {
  if ((path === undefined) === (typeof from !== 'string')) {
    throw new FullmatchError(
      'import_path_unusable',
      'name either a path, or a database or a web server with --from',
    );
  }
  if (path !== undefined) {
    const name = resolve(workingDirectory, path);
    await requirePath(name);
    return { kind: 'path', name };
  }
  const url = String(from);
  if (/^https?:/i.test(url)) return { kind: 'web', name: url };
  if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) {
    throw new FullmatchError(
      'import_path_unusable',
      `--from takes the URL of a database (postgres://…), a Parquet export or another Fullmatch (https://…); import a folder or an archive with: fullmatch import <path>`,
    );
  }
  const target = targetOfUrl(new Secret(url), 'fullmatch import', { name: '--from', key: 'from' });
  return { kind: 'database', name: target.describe(), target };
}

/**
 * Checks the path before a database is created for it.
 * @throws FullmatchError `import_path_unusable`
 */
async function requirePath(path: string): Promise<void> {
  try {
    await stat(path);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing ? 'there is no such file or folder' : messageOf(error);
    throw unusableSource(path, why);
  }
}

const SOURCE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,98}[A-Za-z0-9])?$/;

/**
 * Returns the name of a source: the given name, else the host of --from.
 * @throws FullmatchError `invalid_parameter`
 */
export function sourceNameOf(named: unknown, from: unknown): string | undefined {
  if (typeof named === 'string') {
    if (SOURCE_NAME.test(named)) return named;
    throw invalid(
      'source-name',
      '--source-name is not a name of 1 to 100 letters, digits, dots and hyphens, such as example.org.',
    );
  }
  const host = typeof from === 'string' && URL.canParse(from) ? new URL(from).hostname : '';
  // `localhost` and IP addresses mean nothing to readers.
  const isName = SOURCE_NAME.test(host) && host !== 'localhost' && !/^[0-9.]+$/.test(host);
  return isName ? host : undefined;
}

/** Opens a source for the duration of an import. */
export async function loadFrom(
  source: ImportSource,
  parts: ImportParts,
  load: Load,
): Promise<ImportSummary> {
  if (source.kind === 'path') return loadPath(source.name, parts, load);
  if (source.kind === 'web') return loadWeb(source.name, parts, load);
  const pool = createDatabasePool(source.target, CONNECTIONS, parts.log);
  return load({ database: pool.database, isRewritten: false }).finally(() => pool.close());
}

async function loadPath(path: string, parts: ImportParts, load: Load): Promise<ImportSummary> {
  const folder = await findParquet(path);
  return folder === undefined ? load() : loadParquet(folder, parts, load);
}

async function loadParquet(
  folder: string,
  { store, context, dryRun }: ImportParts,
  load: Load,
): Promise<ImportSummary> {
  return store.database.session(async (database) => {
    const progress = showProgress(context, renderStaging);
    const { signal } = context;
    const staged = await stageParquet(database, folder, {
      ...{ signal, isTemporary: dryRun, onProgress: progress.update },
      requireSpace: store.requireSpace,
    })
      .catch((error: unknown) => {
        throw signal.aborted ? interrupted(0) : error;
      })
      .finally(progress.end);
    const summary = await load({ database, isRewritten: !staged.isOwn });
    if (!summary.interrupted) await staged.drop();
    return summary;
  });
}

/** Imports from another Fullmatch instance or from the files of an export. */
async function loadWeb(url: string, parts: ImportParts, load: Load): Promise<ImportSummary> {
  const { signal } = parts.context;
  const remote = new RemoteSource(url, { signal });
  try {
    if (await hasFeed(remote)) return await loadInstance(remote, parts, load);
    return await loadDownloaded(remote, parts, load);
  } catch (error) {
    throw signal.aborted ? interrupted() : error;
  } finally {
    await remote.close();
  }
}

async function loadInstance(
  remote: RemoteSource,
  { store: { database }, dryRun, whole }: ImportParts,
  load: Load,
): Promise<ImportSummary> {
  const { base } = remote;
  const after = whole ? undefined : await readImportCursor(database, base);
  let cursor: string | undefined;
  const summary = await load({
    remote,
    ...(after !== undefined && { after }),
    onCursor: (next) => (cursor = next),
  });
  // All pages up to the last are stored; an interrupted run resumes where the last complete one ended.
  if (cursor !== undefined && !dryRun && !summary.interrupted) {
    await saveImportCursor(database, base, cursor);
  }
  return summary;
}

/**
 * Downloads an export and imports it. Keeps the files until the import is complete, so that an interrupted
 * run can resume.
 */
async function loadDownloaded(
  remote: RemoteSource,
  parts: ImportParts,
  load: Load,
): Promise<ImportSummary> {
  const { base } = remote;
  const { signal } = parts.context;
  const name = createHash('sha256').update(base).digest('hex').slice(0, 16);
  const folder = join(parts.dataDir, 'downloads', name);
  const progress = showProgress(parts.context, createDownloadRenderer());
  const found = await downloadParquet(remote, folder, {
    ...{ tables: STAGED_TABLES, signal },
    onProgress: progress.update,
  }).finally(progress.end);
  if (!found) {
    throw unusableSource(
      base,
      'it is neither a Fullmatch (no /v1/feed) nor a Parquet export (no manifest.json, and no listing of v2/)',
    );
  }
  const summary = await loadParquet(join(folder, 'v2'), parts, load);
  if (!summary.interrupted && !parts.dryRun) await rm(folder, { recursive: true, force: true });
  return summary;
}

const megabytes = (bytes: number): string => Math.round(bytes / 1e6).toLocaleString('en-US');

/** Creates a renderer of download progress that estimates the remaining time from the speed since the first call. */
function createDownloadRenderer(): (progress: DownloadProgress) => string {
  let first: { readonly atMs: number; readonly bytes: number } | undefined;
  return ({ files, allFiles, bytes, allBytes }) => {
    first ??= { atMs: performance.now(), bytes };
    const seconds = (performance.now() - first.atMs) / 1000;
    const perSecond = (bytes - first.bytes) / seconds;
    const left = perSecond > 0 ? `, ${formatSeconds((allBytes - bytes) / perSecond)} left` : '';
    return `downloading: ${files} of ${allFiles} files, ${megabytes(bytes)} of ${megabytes(allBytes)} MB${left}`;
  };
}

function renderStaging(progress: StagingProgress): string {
  const { files, allFiles, rows, rowsPerSecond, secondsLeft } = progress;
  const left = secondsLeft === undefined ? '' : `, ${formatSeconds(secondsLeft)} left`;
  const rate = `${formatCount(rowsPerSecond)}/s`;
  return `reading Parquet: ${files} of ${allFiles} files, ${formatCount(rows)} rows, ${rate}${left}`;
}

/** Returns the error of an interrupted run, with the number of contracts that it stored if that is known. */
export function interrupted(stored?: number): FullmatchError {
  const kept =
    stored === undefined ? 'what it stored stays' : `${stored} contracts of this run are stored`;
  return new FullmatchError(
    'import_interrupted',
    `the import was stopped; ${kept}; run the same command to go on`,
    { details: stored === undefined ? {} : { stored } },
  );
}
