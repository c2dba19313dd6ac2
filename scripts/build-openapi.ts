/** Writes openapi.json from the schemas of the routes: `npx tsx scripts/build-openapi.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';

import { buildOpenapiDocument, renderOpenapiDocument } from '../src/http/openapi-document.ts';

const root = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  version: string;
};
writeFileSync(new URL('openapi.json', root), renderOpenapiDocument(buildOpenapiDocument(version)));
