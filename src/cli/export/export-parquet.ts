import { exportParquet } from '../../exporter/parquet/export-parquet.ts';
import { readPackageVersion } from '../../lib/package-version.ts';
import { showProgress } from '../progress-line.ts';
import {
  type Exported,
  type ExportRequest,
  renderTableProgress,
  withSnapshotReader,
} from './export-request.ts';
import { countOf } from '../../lib/count-of.ts';

/** Writes the common verification tables to a folder as Parquet. */
export async function runParquetExport(request: ExportRequest): Promise<Exported> {
  const { path: folder, isWhole } = request;
  const progress = showProgress(request.context, renderTableProgress);
  const summary = await withSnapshotReader(request, (scope, core) =>
    exportParquet({
      ...{ ...scope, folder, isWhole, version: readPackageVersion(), now: core.now() },
      onProgress: progress.update,
    }),
  ).finally(progress.end);
  const { tables, files, since, feedPosition, left } = summary;
  const rows = Object.values(tables).reduce((sum, { written }) => sum + written, 0);
  const from = since === undefined ? '' : ` changed since position ${since} of the feed`;
  const without =
    left === 0 ? '' : `, ${countOf(left, 'match', 'matches')} without evidence left out`;
  const text = `${folder}: ${countOf(rows, 'row')}${from}; ${countOf(files, 'file')}${without}, up to position ${feedPosition}`;
  return { summary, text };
}
