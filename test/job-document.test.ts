// The URL of a job: a page for browsers, JSON for programs.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootService, type BootedService } from './support/booted-service.ts';
import { sampleAddress } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { waitUntil } from './support/wait-for.ts';

const CHAIN_ID = 424_242;
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

let testDatabase: TestDatabase;
let service: BootedService;
let id: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  service = await bootService({
    databaseUrl: testDatabase.url,
    yaml: `chains:\n  ${CHAIN_ID}: { name: Silent, local: true, rpc: ['http://127.0.0.1:9'] }\n`,
  });
  const response = await fetch(`${service.apiUrl}/v2/verify/${CHAIN_ID}/${sampleAddress(1)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      stdJsonInput: { language: 'Solidity', sources: { 'A.sol': { content: 'contract A {}' } } },
      ...{ compilerVersion: '0.8.37', contractIdentifier: 'A.sol:A' },
    }),
  });
  ({ verificationId: id } = (await response.json()) as { verificationId: string });
  // Two reads of a job that has ended are equal.
  const isEnded = async (): Promise<boolean> => {
    const job = (await (await fetch(`${service.apiUrl}/v1/jobs/${id}`)).json()) as {
      readonly state: string;
    };
    return job.state === 'failed';
  };
  await waitUntil(isEnded);
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

const ask = (path: string, accept?: string): Promise<Response> =>
  fetch(`${service.apiUrl}${path}`, { headers: accept === undefined ? {} : { accept } });

test.each([
  ['a program that asks for JSON', 'application/json'],
  ['a program that accepts anything, like curl and forge', '*/*'],
  ['fetch without a preference', undefined],
])('is the job of the API v2 for %s', async (_who, accept) => {
  const response = await ask(`/job/${id}`, accept);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('application/json');
  expect(response.headers.get('vary')).toMatch(/\bAccept\b(?!-)/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toEqual(await (await ask(`/v2/verify/${id}`)).json());
});

test('is the page for a browser, and no cache confuses the two', async () => {
  const response = await ask(`/job/${id}`, BROWSER);
  expect(response.headers.get('content-type')).toContain('text/html');
  expect(response.headers.get('vary')).toMatch(/\bAccept\b(?!-)/);
  expect(await response.text()).toContain('<h1>Verification</h1>');
});

test('is the error of the API v2 for an unknown job', async () => {
  const response = await ask(`/job/${randomUUID()}`, '*/*');
  expect([response.status, await response.json()]).toMatchObject([
    404,
    { customCode: 'job_not_found' },
  ]);
  expect(response.headers.get('vary')).toMatch(/\bAccept\b(?!-)/);
  const page = await ask(`/job/${randomUUID()}`, BROWSER);
  expect([page.status, page.headers.get('content-type')]).toEqual([
    404,
    'text/html; charset=utf-8',
  ]);
});
