import { type OpenAPIHono } from '@hono/zod-openapi';

import { FILE_SECTIONS, type NamedContract } from '../../../repository/repository.ts';
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
    const found =
      file === 'standard-input.json'
        ? (await parts.contracts.findVerified(chainId, [address])).get(address)
        : undefined;
    // The input can only be used with this version of the compiler.
    const name = found ? inputName(found) : `${chainId}-${address}-${file}`;
    const answered = await respondWithRecord(c, parts, { chainId, address }, () => ({
      ...VIEWS[file],
      headers: { 'content-disposition': `attachment; filename="${name}"` },
    }));
    if (answered === undefined) throw contractNotFound(chainId, address);
    return answered;
  });
}

const NAME_CHARACTERS = 60;

/** Returns a file name that every file system and the quotes of a header accept. */
function inputName({ name, compiler, compilerVersion }: NamedContract): string {
  const [contract, ...compiledBy] = [name, compiler, compilerVersion].map((text) =>
    text.replaceAll(/[^A-Za-z0-9_$+.-]+/g, '_').slice(0, NAME_CHARACTERS),
  );
  // A leading dot would hide the file.
  return [contract?.replace(/^[.-]+/, '') || 'contract', ...compiledBy, 'standard-input.json'].join(
    '-',
  );
}
