// The operator page: its content and actions on its own machine, and what it rejects from elsewhere.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootService, type BootedService } from './support/booted-service.ts';
import { LOOKS, openTab, visit } from './support/browser.ts';
import { BROWSER, describeWith } from './support/needs.ts';
import { findWithAxe } from './support/in-page.ts';
import { sampleAddress } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { sql } from '../src/store/database.ts';
import { readJob } from '../src/verification/jobs/read-job.ts';
import { claimJob, finishWithFailure } from '../src/verification/jobs/run-jobs.ts';
import { submitJob } from '../src/verification/jobs/submit-job.ts';
import { type FailureCode, VerificationFailure } from '../src/verification/verification-failure.ts';
import { packRequest } from '../src/verification/verification-request.ts';

const WATCHED = 424242;
let testDatabase: TestDatabase;
let service: BootedService & { readonly operatorUrl?: string };
let url: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  // Nothing is verified here, so jobs keep waiting.
  service = await bootService({
    databaseUrl: testDatabase.url,
    yaml: `
operator: { enabled: true, port: 0 }
verification: { workers: 0 }
registry: { include: configured, defaults: false }
chains:
  ${WATCHED}: { name: Chain of the tests, local: true, rpc: ['http://127.0.0.1:1'], monitor: true }
`,
  });
  url = service.operatorUrl ?? '';
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

let next = 0;
const submit = (): Promise<string> => {
  next += 1;
  const compilation = { kind: 'metadata', metadata: {}, sources: { a: String(next) } } as const;
  const address = sampleAddress(0xde_00 + next);
  return submitJob(
    testDatabase.database,
    packRequest({ chainId: WATCHED, address, compilation }),
    '192.0.2.1',
    { total: 100, perClient: 100 },
  );
};
const codeOf = async (id: string): Promise<string | undefined> =>
  (await readJob(testDatabase.database, id))?.failure?.code;

interface State {
  readonly jobs: readonly { readonly id: string; readonly state: string }[];
  readonly failures: readonly {
    readonly code: string;
    readonly jobs: number;
    readonly retriable: number;
  }[];
  readonly monitors: readonly { readonly chainId: number }[];
  readonly roles: object;
  readonly feed: readonly { readonly name: string; readonly behind: number }[];
}
const state = async (): Promise<State> => (await (await fetch(`${url}/state`)).json()) as State;

/** Returns the status of a request with headers that fetch would not send. */
const statusWith = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const asked = request({ hostname, port, method, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('error', reject).end();
  });

describe('the operator page', () => {
  test('shows the process, waiting and failed jobs, and the state of the machine', async () => {
    const [waiting, ended] = [await submit(), await submit()];
    const sent = await fetch(`${url}/jobs/${ended}/cancel`, { method: 'POST', redirect: 'manual' });
    expect(sent.status).toBe(303);
    expect(sent.headers.get('location')).toBe('../../?said=cancelled');
    expect(await codeOf(ended)).toBe('job_cancelled');
    const shown = await state();
    expect(shown.jobs).toMatchObject([{ id: waiting, state: 'queued' }]);
    expect(shown.failures).toMatchObject([{ code: 'job_cancelled', jobs: 1, lastJob: ended }]);
    expect(shown.roles).toEqual({
      ...{ hosts: ['api', 'repository'], workers: 0, monitor: true, database: 'external' },
    });
    expect(shown.feed.map(({ behind }) => behind)).toEqual(shown.feed.map(() => 0));
    await expect
      .poll(async () => (await state()).monitors)
      .toMatchObject([{ chainId: WATCHED, name: 'Chain of the tests' }]);
    const again = await fetch(`${url}/jobs/${ended}/cancel`, {
      method: 'POST',
      redirect: 'manual',
    });
    expect(again.headers.get('location')).toBe('../../?said=job_ended');
    const retried = await fetch(`${url}/monitors/${WATCHED}/retry`, {
      ...{ method: 'POST', redirect: 'manual' },
    });
    expect(retried.headers.get('location')).toBe('../../?said=retried');
  });

  test('retries the jobs that could not be checked, and no others', async () => {
    const { database } = testDatabase;
    await database.query(sql('test no jobs', 'DELETE FROM verification_jobs'));
    const fail = async (code: FailureCode): Promise<void> => {
      await submit();
      const claimed = await claimJob(database, 60_000);
      if (claimed === undefined) throw new Error('nothing claimed');
      await finishWithFailure(
        database,
        claimed,
        new VerificationFailure(code, 'as the test wants'),
      );
    };
    await fail('cannot_fetch_bytecode');
    await fail('no_match');
    expect((await state()).failures).toMatchObject([
      { code: 'cannot_fetch_bytecode', jobs: 1, retriable: 1 },
      { code: 'no_match', jobs: 1, retriable: 0 },
    ]);
    for (const code of ['cannot_fetch_bytecode', 'no_match']) {
      const { status, headers } = await fetch(`${url}/failures/${code}/retry`, {
        ...{ method: 'POST', redirect: 'manual' },
      });
      expect([status, headers.get('location')]).toEqual([303, '../../?said=queued']);
    }
    const shown = await state();
    expect(shown.jobs).toMatchObject([{ state: 'queued' }]);
    expect(shown.failures).toMatchObject([{ retriable: 0 }, { retriable: 0 }]);
    await database.query(sql('test no jobs left', 'DELETE FROM verification_jobs'));
  });

  test.each([
    ['another host name', 'GET', '/state', { host: 'verify.example.org' }],
    ['another host name with a port', 'GET', '/', { host: 'attacker.example:5557' }],
    ['a script on another site', 'GET', '/state', { origin: 'https://attacker.example' }],
    [
      'an image on another site',
      'GET',
      '/state',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    ],
    [
      'a form on another site',
      'POST',
      '/jobs/x/cancel',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    ],
    [
      'a form on another port',
      'POST',
      '/jobs/x/cancel',
      { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' },
    ],
    ["an old browser's form without an origin", 'POST', '/jobs/x/cancel', { origin: 'null' }],
  ])('rejects %s', async (_what, method, path, headers) => {
    expect(await statusWith(method, path, headers)).toBe(403);
  });

  test('accepts navigation from links and requests from local programs', async () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect(await statusWith('GET', '/', link)).toBe(200);
    expect(await statusWith('GET', '/state', { host: `localhost:${new URL(url).port}` })).toBe(200);
    expect(new URL(url).hostname).toBe('127.0.0.1');
    for (const path of ['/chains', '/stats.json', '/v2/verify/1', '/metrics']) {
      const answer = await fetch(`${url}${path}`);
      expect(answer.status).toBe(404);
      await answer.text();
    }
  });
});

describeWith([BROWSER], 'in a browser', () => {
  test.each(LOOKS)('the page is accessible and cancels a job by keyboard: $name', async (look) => {
    const id = await submit();
    const tab = await openTab(look);
    await visit(tab, `${url}/`);
    expect(await findWithAxe(tab)).toEqual([]);
    const button = tab.page.getByRole('button', { name: `Cancel the job ${id.slice(0, 8)}` });
    await button.focus();
    await tab.page.keyboard.press('Enter');
    await tab.page.getByText('The job is being cancelled').waitFor();
    expect(await codeOf(id)).toBe('job_cancelled');
    expect(tab.troubles).toEqual([]);
    await tab.page.context().close();
  });
});
