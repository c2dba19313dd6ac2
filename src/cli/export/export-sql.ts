import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { PassThrough, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { messageOf } from '../../errors.ts';
import { exportSql } from '../../exporter/alliance/export-sql.ts';
import { unusableTarget } from '../../exporter/unusable-target.ts';
import { showProgress } from '../progress-line.ts';
import {
  type Exported,
  type ExportRequest,
  renderTableProgress,
  withSnapshotReader,
} from './export-request.ts';

const PARTIAL = '.partial';

/** Writes the Verifier Alliance database as an SQL script, gzipped if the file name ends in .gz. */
export async function runSqlExport(request: ExportRequest): Promise<Exported> {
  const { path, isWhole, withSourcify } = request;
  if (!isWhole && existsSync(path)) {
    throw unusableTarget(path, 'a file is there already; --whole writes it again');
  }
  const beside = `${path}${PARTIAL}`;
  const out = new PassThrough();
  const written = writeInto(out, beside, path.endsWith('.gz'));
  // Handled below, at the latest when everything is written.
  written.catch(() => undefined);
  const progress = showProgress(request.context, renderTableProgress);
  try {
    const summary = await withSnapshotReader(request, (scope) =>
      Promise.race([
        written,
        exportSql({ ...scope, out, withSourcify, onProgress: progress.update }),
      ]),
    );
    if (summary === undefined) throw unusableTarget(path, 'it could not be written');
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
    throw unusableTarget(file.slice(0, -PARTIAL.length), messageOf(error), error);
  }
}
