import { type OpenAPIHono } from '@hono/zod-openapi';

import { FILE_SECTIONS } from '../../../repository/repository.ts';
import { JSON_TYPE } from '../../answer.ts';
import { contractNotFound } from '../../contract-not-found.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { respondWithRecord, type RecordView } from '../../records/respond-with-record.ts';
import { downloadRoute, type DOWNLOADS } from './downloads-routes.ts';

/** Format and sections of each file. */
const VIEWS: Readonly<Record<(typeof DOWNLOADS)[number], RecordView>> = {
  'abi.json': { form: { kind: 'abi' }, parts: ['artifacts'], type: JSON_TYPE },
  'standard-input.json': {
    form: { kind: 'standard_input' },
    parts: ['compilation', 'sources', 'artifacts'],
    type: JSON_TYPE,
  },
  'sources.zip': {
    form: { kind: 'zip' },
    parts: [...new Set([...FILE_SECTIONS, 'compilation', 'artifacts'] as const)],
    type: 'application/zip',
  },
};

/** Adds the routes that serve the files of a contract for tools. */
export function addDownloads(
  routes: OpenAPIHono,
  parts: Pick<HttpDependencies, 'contracts' | 'answers'>,
): void {
  routes.openapi(downloadRoute, async (c) => {
    const { chainId, address, file } = c.req.valid('param');
    const name = `${chainId}-${address}-${file}`;
    const answered = await respondWithRecord(c, parts, { chainId, address }, () => ({
      ...VIEWS[file],
      headers: { 'content-disposition': `attachment; filename="${name}"` },
    }));
    if (answered === undefined) throw contractNotFound(chainId, address);
    return answered;
  });
}
