import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../log.ts';
import { sql } from '../../store/database.ts';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { IS_SLOW_SUITE } from '../../../test/support/suite.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { watchJobs, type JobWatch } from './job-notifications.ts';
import { troubleBackoffMs } from './requeue.ts';
import { readJob } from './read-job.ts';
import { submitJob } from './submit-job.ts';
import { packRequest } from '../verification-request.ts';
import { startWorkers, type Workers, type WorkerParts } from './worker.ts';

const ROOMY = { total: 1000, perClient: 1000 };

let testDatabase: TestDatabase;
let watch: JobWatch;
let workers: Workers | undefined;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  watch = await watchJobs(testDatabase.database);
});
afterEach(async () => {
  await workers?.close();
  await run('sound again', 'DROP FUNCTION IF EXISTS refuse CASCADE');
  await run('empty queue', 'DELETE FROM verification_jobs');
});
afterAll(async () => {
  await watch.close();
  await testDatabase.drop();
});

let labels = 0;
async function run(label: string, text: string): Promise<unknown[]> {
  // A label may name only one statement.
  return testDatabase.database.query(sql(`test ${(labels += 1)}: ${label}`, text));
}

let next = 900;
async function submit(): Promise<string> {
  const request = packRequest({
    chainId: 7,
    address: sampleAddress((next += 1)),
    compilation: { kind: 'metadata', metadata: {}, sources: { a: 'x' } },
  });
  return submitJob(testDatabase.database, request, 'a', ROOMY);
}

function start(verify: WorkerParts['verify']): void {
  const { database } = testDatabase;
  workers = startWorkers(
    { database, watch, log: silentLogger, verify },
    { workers: 1, jobTimeoutMs: 10_000, leaseMs: 5_000, pollMs: 50 },
  );
}

const succeed: WorkerParts['verify'] = async ({ chainId, address }) => ({
  contract: sampleContract(chainId, address, { runtimeMatch: 'full' }, { origin: 'verified' }),
  compileTimeMs: 12,
  droppedSources: [],
});

const PASSING = ['53100', '53200', '58030', '25006', '57014', 'XX001'];

// Each case waits for several seconds.
test.each(IS_SLOW_SUITE ? PASSING.slice(2) : PASSING.slice(0, 2))(
  'a job that fails to store with SQLSTATE %s keeps its attempts and succeeds later',
  async (state) => {
    await run(
      'refuse',
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${state}'; END $$`,
    );
    await run(
      'refuse matches',
      'CREATE TRIGGER refuse BEFORE INSERT ON verified_contracts FOR EACH ROW EXECUTE FUNCTION refuse()',
    );
    const id = await submit();
    let tries = 0;
    start(async (request, ...given) => {
      tries += 1;
      return succeed(request, ...given);
    });
    await expect.poll(() => tries).toBeGreaterThanOrEqual(2);
    expect((await readJob(testDatabase.database, id))?.state).toMatch(/queued|running/);
    await run('sound again', 'DROP FUNCTION refuse CASCADE');
    await expect
      .poll(async () => (await readJob(testDatabase.database, id))?.state)
      .toBe('succeeded');
    const [row] = (await run(
      'attempts',
      `SELECT attempts FROM verification_jobs WHERE id = '${id}'`,
    )) as { attempts: number }[];
    expect(row?.attempts).toBe(1);
  },
);

test.skipIf(IS_SLOW_SUITE)(
  'a full disk puts the job back without blocking the jobs behind it',
  async () => {
    const troubled = await submit();
    const other = await submit();
    let first = '';
    start(async (request, ...given) => {
      first ||= request.address;
      if (request.address !== first) return succeed(request, ...given);
      throw Object.assign(new Error('write'), { code: 'ENOSPC' });
    });
    await expect
      .poll(async () => (await readJob(testDatabase.database, other))?.state)
      .toBe('succeeded');
    expect((await readJob(testDatabase.database, troubled))?.state).toMatch(/queued|running/);
  },
);

test.skipIf(IS_SLOW_SUITE)('a job with persistent trouble fails after a day', async () => {
  const id = await submit();
  await run(
    'age',
    `UPDATE verification_jobs SET created_at = now() - interval '2 days', attempts = 2 WHERE id = '${id}'`,
  );
  start(async () => {
    throw Object.assign(new Error('write'), { code: 'ENOSPC' });
  });
  await expect.poll(async () => (await readJob(testDatabase.database, id))?.state).toBe('failed');
});

test.skipIf(IS_SLOW_SUITE)('a worker backs off exponentially, up to 30 seconds', () => {
  expect([0, 1, 2, 3, 10].map(troubleBackoffMs)).toEqual([0, 1000, 2000, 4000, 30_000]);
});
