import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootService, type BootedService } from './support/booted-service.ts';
import { describeFailure, runFuzz } from './support/fuzz/fuzz-run.ts';
import { makeRequest, readRoutes, type FuzzedRoute } from './support/fuzz/request-grammar.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { configOf } from './support/anvil.ts';

const SEED = 20_261_121;
const REQUESTS = 20_000;
const SECONDS = 12;
const TIMEOUT_MS = 30_000;
/** Nothing listens on this port: submissions fail soon and are not waited for. */
const DEAD_NODE = { url: 'http://127.0.0.1:9' };

let testDatabase: TestDatabase;
let service: BootedService;
let routes: readonly FuzzedRoute[];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  service = await bootService({ databaseUrl: testDatabase.url, yaml: configOf(DEAD_NODE) });
  const document = await readFile(new URL('../openapi.json', import.meta.url), 'utf8');
  routes = readRoutes(JSON.parse(document) as Parameters<typeof readRoutes>[0]);
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

test('the same seed and index produce the same request', () => {
  for (const index of [0, 7, 1_234]) {
    expect(makeRequest(routes, SEED, index)).toEqual(makeRequest(routes, SEED, index));
  }
});

test(`malformed requests get documented responses and never cause a service error (seed ${SEED})`, async () => {
  const port = (url: string): number => Number(new URL(url).port);
  const { failures, requests, statuses } = await runFuzz({
    ...{ routes, seed: SEED, requests: REQUESTS, seconds: SECONDS },
    // Requests and responses share this process and a busy machine: only a response that never arrives is a
    // fault.
    timeoutMs: TIMEOUT_MS,
    ports: { api: port(service.apiUrl), repository: port(service.repositoryUrl) },
  });
  expect(failures.map((failure) => describeFailure(SEED, failure))).toEqual([]);
  expect(service.logText()).not.toContain('"event":"internal_error"');
  expect(requests).toBeGreaterThan(100);
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '404', '405']));
  expect((await fetch(`${service.apiUrl}/chains`)).status).toBe(200);
});
