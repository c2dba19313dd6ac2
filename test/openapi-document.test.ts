import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';

import { createCheckedApiApp, createCheckedRepositoryApp } from './support/wire/checked-answers.ts';
import { fixtureDependencies } from './support/http-fixture.ts';
import { NO_SHARED_DATA, sharedData } from './support/shared-data.ts';
import { type ContractMatch } from '../src/repository/matches/contract-match.ts';
import {
  buildOpenapiDocument,
  type JsonSchema,
  renderOpenapiDocument,
} from '../scripts/openapi-document.ts';
import { type HostApp } from '../src/http/host-app.ts';
import { tooManyResponses, tooManyClientResponses } from '../src/http/records/overload-errors.ts';
import { createOperatorApp, type OperatorParts } from '../src/http/operator/operator-app.ts';
import { type RecordResponder } from '../src/http/records/record-responder.ts';
import { REPOSITORY_URL } from '../src/http/repository/repository-routes.ts';

const root = new URL('../', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, root), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };
const document = buildOpenapiDocument(version);

/** Example values of path parameters. */
const EXAMPLES: Readonly<Record<string, string>> = {
  matchId: '1',
  match: 'full',
  chainId: '1',
  id: '3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f',
  address: `0x${'1'.repeat(40)}`,
  matchFolder: 'full_match',
  file: 'abi.json',
  path: 'metadata.json',
  verificationId: '3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f',
};

const SOME_RECORD = { match: {} as ContractMatch, version: '1' };

/** An operator's desk without jobs, failures or lag. */
const EMPTY_DESK: OperatorParts['desk'] = {
  look: async () => ({ jobs: [], failures: [], feed: [], databaseBytes: 1 }),
  cancelJob: async () => undefined,
  retryFailures: async () => undefined,
  retryFound: async () => undefined,
};
const NO_ROLES = { hosts: [], workers: 0, monitor: false, database: 'external' } as const;

/** Returns a validator for a schema whose references point into the document. */
function validator(schema: JsonSchema) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  return ajv.compile({ ...schema, components: document.components });
}

const isOfRepository = (operation: object): boolean =>
  JSON.stringify('servers' in operation ? operation.servers : '').includes(REPOSITORY_URL);

describe('OpenAPI document', () => {
  test('equals the committed openapi.json (run `npx tsx scripts/build-openapi.ts`)', () => {
    expect(read('openapi.json')).toBe(renderOpenapiDocument(document));
  });

  test('is served at GET /openapi.json with the URL of the repository host', async () => {
    const parts = await fixtureDependencies({ version });
    const app = createCheckedApiApp(parts);
    const written = read('openapi.json').replaceAll(REPOSITORY_URL, parts.urls().repository ?? '');
    expect(await (await app.request('/openapi.json')).text()).toBe(written);
  });

  test('gives every operation one described tag, and has no unused tags', () => {
    const { paths, tags } = JSON.parse(renderOpenapiDocument(document)) as {
      paths: Record<string, Record<string, { tags?: string[] }>>;
      tags: { name: string; description: string }[];
    };
    const used = Object.values(paths).flatMap((operations) =>
      Object.values(operations).map((operation) => operation.tags ?? []),
    );
    expect(used.every((names) => names.length === 1)).toBe(true);
    expect(new Set(tags.map(({ name }) => name))).toEqual(new Set(used.flat()));
  });

  test('is OpenAPI 3.1 with resolvable references', () => {
    expect(document.openapi).toBe('3.1.0');
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(0);
    for (const [, reference = ''] of references) {
      const name = reference.replace('#/components/schemas/', '');
      expect(Object.keys(document.components.schemas)).toContain(name);
    }
  });

  test('describes the status, type and body of every GET response', async () => {
    const deps = await fixtureDependencies();
    const operator = createOperatorApp({ ...deps, desk: EMPTY_DESK, roles: NO_ROLES });
    const repository = createCheckedRepositoryApp(deps);
    const apps = [createCheckedApiApp(deps), repository, operator];
    for (const [template, operations] of Object.entries(document.paths)) {
      const operation = operations['get'];
      if (operation === undefined) continue;
      for (const ref of template.includes('{ref}') ? ['1', '999', '0', 'Twin'] : ['']) {
        const path = template
          .replace('{ref}', ref)
          .replace(/\{(\w+)\}/g, (_whole, name: string) => EXAMPLES[name] ?? '');
        // The API host has a page at a path of the repository host.
        const own: readonly HostApp[] = isOfRepository(operation) ? [repository] : apps;
        const app = own.find((each) => each.routeOf('GET', path) !== undefined);
        const response = await app!.request(path);
        const described = operation.responses[String(response.status)];
        const type = (response.headers.get('content-type') ?? '').split(';', 1)[0]!;
        if (response.status === 302 && described !== undefined) continue;
        const schema = described?.content?.[type]?.schema;
        expect(schema, `${path} ${response.status} ${type}`).toBeDefined();
        const text = await response.text();
        const validate = validator(schema!);
        const valid = validate(type.endsWith('json') ? JSON.parse(text) : text);
        expect(valid, `${path}: ${JSON.stringify(validate.errors)}`).toBe(true);
      }
    }
  });

  test.each([
    ['too_many_answers', tooManyResponses],
    ['too_many_client_answers', tooManyClientResponses],
  ])('declares %s for every route with admission control', async (_code, refusal) => {
    const refuse = (): never => {
      throw refusal();
    };
    const deps = await fixtureDependencies();
    const answers: Partial<RecordResponder> = {
      ...{ answer: refuse, admit: refuse },
    };
    const app = createCheckedApiApp({
      ...deps,
      answers: answers as RecordResponder,
      contracts: { ...deps.contracts, readRecordVersion: async () => SOME_RECORD },
    });
    const refused: string[] = [];
    for (const [template, { get }] of Object.entries(document.paths)) {
      const path = template.replace(/\{(\w+)\}/g, (_whole, name: string) => EXAMPLES[name] ?? '1');
      if (get === undefined || isOfRepository(get)) continue;
      if (app.routeOf('GET', path) === undefined) continue;
      const { status } = await app.request(`${path}?fields=all`);
      if (status !== 429 && status !== 503) continue;
      refused.push(template);
      expect(Object.keys(get.responses), template).toContain(String(status));
    }
    expect(refused).toEqual(
      expect.arrayContaining([
        '/v2/contract/{chainId}/{address}',
        '/v1/contracts/{chainId}/{address}/sources',
        '/v1/contracts/{chainId}/{address}/alternatives/{matchId}',
        '/files/any/{chainId}/{address}',
        '/files/tree/any/{chainId}/{address}',
        '/v1/contracts',
        '/v1/contracts/{chainId}/{address}/same-code',
        '/v1/statistics/history',
        '/v2/contracts/{chainId}',
      ]),
    );
  });

  test.each([
    '/v1/chains',
    '/v1/chains/{ref}/icon',
    '/v1/contracts/{chainId}/{address}',
    '/v1/contracts/{chainId}/{address}/events',
    '/v1/jobs/{id}',
    '/v2/verify/{verificationId}',
    '/check-all-by-addresses',
    '/check-by-addresses',
    '/files/contracts/{chainId}',
  ])('declares for %s that large responses may be refused', (template) => {
    const { responses = {} } = document.paths[template]?.get ?? {};
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['429', '503']));
  });

  test('has a statistics schema that accepts real statistics', ({ skip }) => {
    const statistics = sharedData('stats-2026-08-22.json');
    if (statistics === undefined) skip(NO_SHARED_DATA);
    expect(validator(document.components.schemas['Statistics']!)(statistics)).toBe(true);
  });
});
