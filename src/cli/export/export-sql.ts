import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { PassThrough, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { FullmatchError, messageOf } from '../../errors.ts';
import { exportSql } from '../../exporter/alliance/export-sql.ts';
import { showProgress } from '../progress-line.ts';
import { withCore } from '../with-core.ts';
import {
  chainOf,
  type Exported,
  type ExportRequest,
  openStoreWithSequencedEvents,
} from './export-request.ts';

const PARTIAL = '.partial';

/** Writes the Verifier Alliance database as an SQL script, gzipped if the file name ends in .gz. */
export async function runSqlExport(request: ExportRequest): Promise<Exported> {
  const { path, chain, isWhole, withSourcify, options, context } = request;
  if (!isWhole && (await isThere(path))) {
    throw unusable(path, 'a file is there already; --whole writes it again');
  }
  const beside = `${path}${PARTIAL}`;
  const out = new PassThrough();
  const written = writeInto(out, beside, path.endsWith('.gz'));
  // Handled below, at the latest when everything is written.
  written.catch(() => undefined);
  const progress = showProgress(context, renderProgress);
  try {
    const summary = await withCore(
      options,
      context,
      'export',
      async (core) => {
        const chainId = await chainOf(core, chain);
        const store = await openStoreWithSequencedEvents(core);
        return store.onSnapshot(1, ([reader]) => {
          if (reader === undefined) throw new Error('a snapshot has a reader');
          return Promise.race([
            written,
            exportSql({
              ...{ reader, out, withSourcify, signal: context.signal },
              ...(chainId !== undefined && { chainId }),
              onProgress: progress.update,
            }),
          ]);
        });
      },
      { registry: 'stored' },
    );
    if (summary === undefined) throw unusable(path, 'it could not be written');
    out.end();
    await written;
    await rename(beside, path);
    const rows = Object.values(summary.tables).reduce((sum, count) => sum + count, 0);
    const text = `${path}: ${rows} rows, up to position ${summary.feedPosition}`;
    return { summary, text };
  } catch (error) {
    out.destroy();
    await written.catch(() => undefined);
    await rm(beside, { force: true });
    throw error;
  } finally {
    progress.end();
  }
}

/** @throws FullmatchError `export_path_unusable` */
async function writeInto(out: PassThrough, file: string, isZipped: boolean): Promise<undefined> {
  try {
    const target: Writable = createWriteStream(file, { flush: true });
    await (isZipped ? pipeline(out, createGzip(), target) : pipeline(out, target));
    return undefined;
  } catch (error) {
    throw unusable(file.slice(0, -PARTIAL.length), messageOf(error), error);
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

function unusable(path: string, why: string, cause?: unknown): FullmatchError {
  return new FullmatchError('export_path_unusable', `cannot export to ${path}: ${why}`, {
    details: { path },
    ...(cause !== undefined && { cause }),
  });
}

function renderProgress(
  { table, rows }: { readonly table: string; readonly rows: number },
  columns?: number,
): string {
  const line = `${table}: ${rows} rows`;
  return columns === undefined ? line : line.slice(0, columns - 1);
}
