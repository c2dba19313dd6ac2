import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLogger } from '../../log.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { sampleAddress } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { watchJobs, type JobWatch } from './job-notifications.ts';
import { JobWaiters } from './job-waiters.ts';
import { cancelJob } from './run-jobs.ts';
import { submitJob } from './submit-job.ts';
import { packRequest } from '../verification-request.ts';

const LIMITS = { total: 500, perClient: 500 };
/** Longer than any test, so only notifications wake a waiter. */
const NEVER_MS = 600_000;

let testDatabase: TestDatabase;
let watch: JobWatch;
/** Labels of all statements that the waiters ran. */
const statements: string[] = [];
let counted: Queryable;
const made: JobWaiters[] = [];
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  watch = await watchJobs(database);
  counted = {
    query: (statement, values) => {
      statements.push(statement.label);
      return database.query(statement, values);
    },
  };
});
afterAll(async () => {
  await Promise.all(made.map((waiters) => waiters.close(new Error('over'))));
  await watch.close();
  await testDatabase.drop();
});

function makeWaiters(limits = LIMITS, pollMs = NEVER_MS): JobWaiters {
  const waiters = new JobWaiters({ database: counted, watch, log: silentLogger }, limits, pollMs);
  made.push(waiters);
  return waiters;
}

let next = 0;
const submit = (): Promise<string> =>
  submitJob(
    testDatabase.database,
    packRequest({
      chainId: 7,
      address: sampleAddress((next += 1)),
      compilation: { kind: 'metadata', metadata: {}, sources: {} },
    }),
    'a',
    { total: 1000, perClient: 1000 },
  );

describe('Waiters for a job', () => {
  test('all learn of its end from one read and are then removed', async () => {
    const waiters = makeWaiters();
    const id = await submit();
    const waiting = Array.from({ length: 300 }, () => waiters.waitForEnd(id, { client: 'a' }));
    await expect.poll(() => waiters.size).toBe(300);
    await waiters.read(id);
    statements.length = 0;
    await cancelJob(testDatabase.database, id);
    const ends = await Promise.all(waiting);
    expect(ends.every((job) => job?.failure?.code === 'job_cancelled')).toBe(true);
    expect(statements).toEqual(['read jobs']);
    expect(waiters.size).toBe(0);
  });

  test('are resumed over several turns of the event loop, so that other requests have theirs', async () => {
    const waiters = makeWaiters();
    const id = await submit();
    const resumedIn = new Map<number, number>();
    let turn = 0;
    let isOver = false;
    const countTurn = (): void => {
      turn += 1;
      if (!isOver) setImmediate(countTurn);
    };
    const waiting = Array.from({ length: 320 }, async () => {
      await waiters.waitForEnd(id, { client: 'a' });
      resumedIn.set(turn, (resumedIn.get(turn) ?? 0) + 1);
    });
    await expect.poll(() => waiters.size).toBe(320);
    countTurn();
    await cancelJob(testDatabase.database, id);
    await Promise.all(waiting);
    isOver = true;
    expect(Math.max(...resumedIn.values())).toBeLessThanOrEqual(64);
  });

  test('are not woken when other jobs end', async () => {
    const waiters = makeWaiters();
    const [id, ...others] = [await submit(), await submit(), await submit()];
    const leaving = new AbortController();
    const waiting = waiters.waitForEnd(id, { client: 'a', signal: leaving.signal });
    await waiters.read(id);
    statements.length = 0;
    for (const other of others) await cancelJob(testDatabase.database, other);
    await cancelJob(testDatabase.database, id);
    expect((await waiting)?.state).toBe('failed');
    expect(statements).toEqual(['read jobs']);
  });

  test('learn of an end with a lost notification from one statement for all', async () => {
    const waiters = makeWaiters(LIMITS, 200);
    const ids = [await submit(), await submit(), await submit()];
    const waiting = ids.map((id) => waiters.waitForEnd(id, { client: 'a' }));
    await waiters.read(ids[0] ?? '');
    statements.length = 0;
    await testDatabase.database.query(
      sql(
        'test end in silence',
        `UPDATE verification_jobs SET state = 'failed', finished_at = now(), request = NULL,
           error_code = 'no_match', error_id = gen_random_uuid() WHERE id = ANY ($1)`,
      ),
      [ids],
    );
    const ends = await Promise.all(waiting);
    expect(ends.map((job) => job?.failure?.code)).toEqual(['no_match', 'no_match', 'no_match']);
    expect(statements.filter((label) => label === 'read jobs')).toHaveLength(1);
  });

  test('are limited per client and in total, and free their slot when they leave', async () => {
    const waiters = makeWaiters({ total: 4, perClient: 3 });
    const id = await submit();
    const leaving = new AbortController();
    const wait = (client: string): Promise<unknown> =>
      waiters.waitForEnd(id, { client, signal: leaving.signal });
    const refused = { code: 'too_many_waiters', details: { verificationId: id } };
    const left = [wait('a'), wait('a'), wait('a')];
    await expect(wait('a')).rejects.toMatchObject(refused);
    left.push(wait('b'));
    await expect(wait('c')).rejects.toMatchObject(refused);
    expect(waiters.size).toBe(4);
    const ended = Promise.allSettled(left);
    leaving.abort(new Error('left'));
    await ended;
    expect(waiters.size).toBe(0);
    const stay = waiters.waitForEnd(id, { client: 'a', timeoutMs: 50 });
    expect(waiters.size).toBe(1);
    expect(await stay).toBeUndefined();
    expect(waiters.size).toBe(0);
  });

  test('find a job that already ended, and nothing for an unknown id', async () => {
    const waiters = makeWaiters();
    const id = await submit();
    await cancelJob(testDatabase.database, id);
    const upper = id.toUpperCase();
    expect((await waiters.waitForEnd(upper, { client: 'a' }))?.state).toBe('failed');
    expect(await waiters.waitForEnd('no id', { client: 'a' })).toBeUndefined();
    const nobody = '00000000-0000-4000-8000-000000000000';
    expect(await waiters.waitForEnd(nobody, { client: 'a' })).toBeUndefined();
  });

  test('are rejected when the service shuts down', async () => {
    const waiters = makeWaiters();
    const waiting = waiters.waitForEnd(await submit(), { client: 'a' });
    const failed = expect(waiting).rejects.toThrow('ending');
    await waiters.close(new Error('ending'));
    await failed;
    await expect(waiters.waitForEnd(await submit(), { client: 'a' })).rejects.toThrow('ending');
  });
});
