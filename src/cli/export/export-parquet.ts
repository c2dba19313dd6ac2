import { exportParquet, type ParquetProgress } from '../../exporter/parquet/export-parquet.ts';
import { readPackageVersion } from '../../lib/package-version.ts';
import { showProgress } from '../progress-line.ts';
import { withCore } from '../with-core.ts';
import {
  chainOf,
  type Exported,
  type ExportRequest,
  openStoreWithSequencedEvents,
} from './export-request.ts';
import { countOf } from '../../lib/count-of.ts';

/** Writes the common verification tables to a folder as Parquet. */
export async function runParquetExport(request: ExportRequest): Promise<Exported> {
  const { path: folder, isWhole, chain, options, context } = request;
  const progress = showProgress(context, renderProgress);
  const summary = await withCore(
    options,
    context,
    'export',
    async (core) => {
      const chainId = await chainOf(core, chain);
      const store = await openStoreWithSequencedEvents(core);
      return store.onSnapshot(1, ([reader]) => {
        if (reader === undefined) throw new Error('a snapshot has a reader');
        return exportParquet({
          ...{ reader, folder, isWhole, version: readPackageVersion(), now: core.now() },
          ...(chainId !== undefined && { chainId }),
          ...{ signal: context.signal, onProgress: progress.update },
        });
      });
    },
    { registry: 'stored' },
  ).finally(progress.end);
  const { tables, files, since, feedPosition, left } = summary;
  const rows = Object.values(tables).reduce((sum, { written }) => sum + written, 0);
  const from = since === undefined ? '' : ` changed since position ${since} of the feed`;
  const without =
    left === 0 ? '' : `, ${countOf(left, 'match', 'matches')} without evidence left out`;
  const text = `${folder}: ${countOf(rows, 'row')}${from}; ${countOf(files, 'file')}${without}, up to position ${feedPosition}`;
  return { summary, text };
}

function renderProgress({ table, rows }: ParquetProgress, columns?: number): string {
  const line = `${table}: ${rows} rows`;
  return columns === undefined ? line : line.slice(0, columns - 1);
}
