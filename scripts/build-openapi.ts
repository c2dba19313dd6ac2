/** Writes openapi.json from the schemas of the routes, and the types of the client: `npx tsx scripts/build-openapi.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';

import { buildOpenapiDocument, renderOpenapiDocument } from './openapi-document.ts';
import { renderClientTypes } from './client-types.ts';

const root = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  version: string;
};
const document = buildOpenapiDocument(version);
writeFileSync(new URL('openapi.json', root), renderOpenapiDocument(document));
writeFileSync(new URL('client/src/schemas.ts', root), await renderClientTypes(document));
