import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Core } from '../../core/open-core.ts';
import { readRegistryInputs, renderChainsOf } from '../../core/registry-inputs.ts';
import { messageOf } from '../../errors.ts';
import {
  type ExportFacts,
  type ExportProgress,
  type ExportSummary,
  exportTree,
  type TreeLayout,
} from '../../exporter/export-tree.ts';
import { archiveTarget, folderTarget, type TreeTarget } from '../../exporter/tree-target.ts';
import { unusableTarget } from '../../exporter/unusable-target.ts';
import { readPackageVersion } from '../../lib/package-version.ts';
import { type CliContext } from '../cli-context.ts';
import { showProgress } from '../progress-line.ts';
import { withCore } from '../with-core.ts';
import {
  chainOf,
  type Exported,
  type ExportRequest,
  openStoreWithSequencedEvents,
} from './export-request.ts';
import { makeFolder } from '../../lib/writable-folder.ts';
import { countOf } from '../../lib/count-of.ts';

const READERS = 4;
// One reader, so that an archive lists its contracts in order.
const ARCHIVE_READERS = 1;
const ARCHIVE = /\.(?:tar|tar\.gz|tgz)$/;
/** Names of files that a tree is not written to. */
const OTHER_FILE = /\.(?:zst|xz|bz2|zip|gz|sql|parquet)$/;
const FACTS = 'export.json';
const BEGUN = { feedPosition: '0', feedMark: null };

/** Writes the published tree and both documents to a folder or an archive, from one snapshot. */
export async function runTreeExport(request: ExportRequest): Promise<Exported> {
  const { path, isWhole, chain, layout, options, context } = request;
  const progress = showProgress(context, renderExportProgress);
  const opened = await openTarget(path, isWhole);
  const { target } = opened;
  const summary = await withCore(
    options,
    context,
    'export',
    (core) => exportFrom(core, { ...opened, chain, layout, context, onProgress: progress.update }),
    { registry: 'stored' },
  )
    .catch(async (error: unknown) => {
      await target.giveUp();
      throw error;
    })
    .finally(progress.end);
  return { summary, text: `${path}: ${describe(summary)}` };
}

async function exportFrom(
  core: Core,
  {
    target,
    before,
    readers: count,
    chain,
    layout,
    context,
    onProgress,
  }: Opened & {
    readonly chain: string | undefined;
    readonly layout: TreeLayout;
    readonly context: CliContext;
    readonly onProgress: (progress: ExportProgress) => void;
  },
): Promise<ExportSummary> {
  const chainId = await chainOf(core, chain);
  if (before !== undefined && before.chainId !== chainId) {
    const held = before.chainId === undefined ? 'all chains' : `chain ${before.chainId} alone`;
    throw unusableTarget(target.path, `it holds ${held}`);
  }
  const { layout: layoutBefore = 'v1' } = before ?? { layout };
  if (layoutBefore !== layout) throw unusableTarget(target.path, `it holds layout ${layoutBefore}`);
  const store = await openStoreWithSequencedEvents(core);
  const inputs = await readRegistryInputs(
    core.loaded,
    store.database,
    await core.list(),
    await core.log(),
  );
  return store.onSnapshot(count, (readers) =>
    exportTree({
      ...{ readers, target, layout, ...(before && { before }) },
      chains: (chainIds) => renderChainsOf(inputs, chainIds),
      ...{ version: readPackageVersion(), now: core.now() },
      ...(chainId !== undefined && { chainId }),
      ...{ signal: context.signal, onProgress },
    }),
  );
}

/** The opened target, and the previous export there. */
interface Opened {
  readonly target: TreeTarget;
  readonly before: ExportFacts | undefined;
  readonly readers: number;
}

/** @throws FullmatchError export_path_unusable */
async function openTarget(path: string, isWhole: boolean): Promise<Opened> {
  try {
    if (ARCHIVE.test(path)) {
      if (existsSync(path)) throw new Error('a file is there already; remove it first');
      return { target: archiveTarget(path), before: undefined, readers: ARCHIVE_READERS };
    }
    if (OTHER_FILE.test(path) && !existsSync(path)) {
      throw new Error(
        'archives end in .tar, .tar.gz or .tgz; for SQL add --format sql, for Parquet files --format parquet and a folder',
      );
    }
    await makeFolder(path);
    const before = await readFacts(path);
    if (before === undefined && (await readdir(path)).length > 0) {
      throw new Error('the folder has other content; use an empty one');
    }
    const isBegun = before === undefined || before.feedPosition === BEGUN.feedPosition;
    if (!isWhole && !isBegun) return { target: folderTarget(path), before, readers: READERS };
    // An interrupted export starts over, so that it retains nothing that is no longer verified.
    await writeFile(join(path, FACTS), `${JSON.stringify(BEGUN)}\n`);
    await rm(join(path, 'contracts'), { recursive: true, force: true });
    return { target: folderTarget(path), before: undefined, readers: READERS };
  } catch (error) {
    throw unusableTarget(path, messageOf(error), error);
  }
}

/** Reads the facts of the previous export; undefined if there is none or it did not finish. */
async function readFacts(folder: string): Promise<ExportFacts | undefined> {
  const file = join(folder, FACTS);
  if (!existsSync(file)) return undefined;
  const facts = JSON.parse(await readFile(file, 'utf8')) as Partial<ExportFacts>;
  if (/^\d{1,19}$/.test(facts.feedPosition ?? '')) return facts as ExportFacts;
  throw new Error(`its ${FACTS} is not one of an export`);
}

function renderExportProgress({ done, total, files }: ExportProgress): string {
  const share = total === 0 ? 100 : Math.floor((100 * done) / total);
  return `${done} of ${total} contracts, ${share}%, ${files} files`;
}

function describe({ written, left, files, since, feedPosition }: ExportSummary): string {
  const from = since === undefined ? '' : ` changed since position ${since} of the feed`;
  const without = left === 0 ? '' : `, ${left} without files`;
  return `${countOf(written, 'contract')}${from} in ${countOf(files, 'file')}${without}, up to position ${feedPosition}`;
}
