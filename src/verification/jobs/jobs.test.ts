import { endJob } from './end-job.ts';
import { randomUUID } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { silentLogger } from '../../log.ts';
import { sql } from '../../store/database.ts';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { Gate } from '../../../test/support/gate.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { watchJobs, type JobWatch } from './job-notifications.ts';
import { readJob } from './read-job.ts';
import fc from 'fast-check';
import { deleteOldJobs } from './forget-jobs.ts';
import {
  cancelJob,
  claimJob,
  type ClaimedJob,
  finishWithFailure,
  finishWithMatch,
  releaseJob,
  MAX_ATTEMPTS,
  reapJobs,
  renewLease,
} from './run-jobs.ts';
import { retryFailures, retryJob } from './retry-jobs.ts';
import { submitJob } from './submit-job.ts';
import { isFinished, type JobEnd, type VerificationJob } from './verification-job.ts';
import { type FailureCode, VerificationFailure } from '../verification-failure.ts';
import { packRequest, type VerificationRequest } from '../verification-request.ts';
import { startWorkers, type WorkerOptions, type Workers, type WorkerParts } from './worker.ts';
import { contractChanged } from '../../repository/matches/outdated-reading.ts';
import { saveMatch, saveMatches } from '../../repository/matches/save-matches.ts';

const ROOMY = { total: 1000, perClient: 1000 };
const LEASE_MS = 3_000;

/** A lease that has already expired when it is granted. */
const LAPSED = -1;

let testDatabase: TestDatabase;
let watch: JobWatch;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  watch = await watchJobs(testDatabase.database);
});
afterAll(async () => {
  await watch.close();
  await testDatabase.drop();
});
beforeEach(async () => {
  await testDatabase.database.query(sql('test empty queue', 'DELETE FROM verification_jobs'));
  await testDatabase.database.query(sql('test empty usage', 'DELETE FROM client_usage'));
});
/** Charges a client as if it had held workers for a time. */
const spend = (client: string, ms: number): Promise<unknown> =>
  testDatabase.database.query(
    sql(
      'test spend',
      'INSERT INTO client_usage (client, spent_ms, updated_at) VALUES ($1, $2, now())',
    ),
    [client, ms],
  );

let next = 0;
const freshAddress = (): Hex => sampleAddress((next += 1));
const requestFor = (address: Hex, chainId = 7): VerificationRequest => ({
  chainId,
  address,
  compilation: { kind: 'metadata', metadata: {}, sources: { a: 'x' } },
});
const submit = (
  request = requestFor(freshAddress()),
  client = 'a',
  limits = ROOMY,
): Promise<string> => submitJob(testDatabase.database, packRequest(request), client, limits);

const renewalOf = async (id: string): Promise<object | undefined> => {
  const text = 'SELECT cancel_requested FROM verification_jobs WHERE id = $1';
  return (await testDatabase.database.query(sql('test cancel request', text), [id]))[0];
};

let workers: Workers[] = [];
afterEach(async () => {
  await Promise.all(workers.map((each) => each.close()));
  workers = [];
});
const start = (
  verify: WorkerParts['verify'],
  options: Partial<WorkerOptions> = {},
  onEnd: WorkerParts['onEnd'] = () => undefined,
  { database }: Pick<TestDatabase, 'database'> = testDatabase,
): Workers => {
  const started = startWorkers(
    { database, watch, log: silentLogger, verify, onEnd },
    { workers: 2, jobTimeoutMs: 10_000, leaseMs: LEASE_MS, pollMs: 50, ...options },
  );
  workers.push(started);
  return started;
};
const succeed: WorkerParts['verify'] = async ({ chainId, address }) => ({
  contract: sampleContract(chainId, address, { runtimeMatch: 'full' }, { origin: 'verified' }),
  compileTimeMs: 12,
  droppedSources: [],
});
const changed: WorkerParts['verify'] = async ({ chainId, address }) => {
  throw contractChanged(chainId, address);
};
const never = (): Promise<never> => new Promise(() => undefined);
const untilEnd = async (id: string): Promise<VerificationJob> => {
  await expect
    .poll(
      async () => isFinished((await readJob(testDatabase.database, id)) ?? { state: 'queued' }),
      {
        timeout: 90_000,
        interval: 20,
      },
    )
    .toBe(true);
  return (await readJob(testDatabase.database, id)) as VerificationJob;
};

describe('Submitting', () => {
  test('accepts an input once while in flight, and again after its end', async () => {
    const request = requestFor(freshAddress());
    const tries = await Promise.allSettled(Array.from({ length: 12 }, () => submit(request)));
    const accepted = tries.filter((each) => each.status === 'fulfilled');
    expect(accepted).toHaveLength(1);
    for (const each of tries) {
      if (each.status === 'fulfilled') continue;
      expect(each.reason).toMatchObject({ code: 'duplicate_verification_request' });
    }
    await expect(submit(request)).rejects.toMatchObject({
      details: { verificationId: accepted[0]?.value },
    });
    start(async () => {
      throw new VerificationFailure('no_match', 'different');
    });
    await untilEnd(accepted[0]?.value ?? '');
    await expect(submit(request)).resolves.toMatch(/^[0-9a-f-]{36}$/);
  });

  test('rejects with a retry delay when the queue is full, in total or for a client', async () => {
    const limits = { total: 3, perClient: 2 };
    await submit(undefined, 'a', limits);
    await submit(undefined, 'a', limits);
    await expect(submit(undefined, 'a', limits)).rejects.toMatchObject({ code: 'queue_full' });
    await submit(undefined, 'b', { total: 3, perClient: 2 });
    await expect(submit(undefined, 'b', limits)).rejects.toMatchObject({
      code: 'queue_full',
      details: { retryAfterSeconds: expect.any(Number) as number },
    });
  });

  test('never exceeds the queue limit under concurrent submissions', async () => {
    const limits = { total: 10, perClient: 10 };
    await Promise.allSettled(
      Array.from({ length: 19 }, (_, index) => submit(undefined, `n${index}`, limits)),
    );
    const [row] = await testDatabase.database.query<{ count: number }>(
      sql(
        'test count',
        `SELECT count(*)::int AS count FROM verification_jobs WHERE state = 'queued'`,
      ),
    );
    expect(row?.count).toBe(10);
  });

  test('rejects a contract only if both bytecodes are fully matched by a verification', async () => {
    const [full, half, claimed] = [freshAddress(), freshAddress(), freshAddress()];
    const both = { runtimeMatch: 'full', creationMatch: 'full' } as const;
    await saveMatches(testDatabase.database, [
      { ...sampleContract(7, full, both), origin: 'verified' },
      { ...sampleContract(7, half, { runtimeMatch: 'full' }), origin: 'verified' },
      sampleContract(7, claimed, both),
    ]);
    await expect(submit(requestFor(full))).rejects.toMatchObject({ code: 'already_verified' });
    await expect(submit(requestFor(half))).resolves.toBeTruthy();
    await expect(submit(requestFor(claimed))).resolves.toBeTruthy();
  });
});

describe('Claiming', () => {
  test('alternates between clients, and between the chains of each', async () => {
    const names = new Map<string, string>();
    const add = async (client: string, chainId: number): Promise<void> => {
      const id = await submit(requestFor(freshAddress(), chainId), client);
      names.set(id, `${client}${chainId}`);
    };
    for (let index = 0; index < 4; index += 1) await add('a', 1);
    for (let index = 0; index < 2; index += 1) await add('a', 2);
    for (let index = 0; index < 2; index += 1) await add('b', 1);
    const order: (string | undefined)[] = [];
    for (let index = 0; index < 8; index += 1) {
      order.push(names.get((await claimJob(testDatabase.database, 10_000))?.id ?? ''));
    }
    expect(order).toEqual(['a1', 'b1', 'a2', 'b1', 'a1', 'a2', 'a1', 'a1']);
  });

  test('gives each job to one worker under concurrent claims', async () => {
    for (let index = 0; index < 20; index += 1) await submit();
    const claims = await Promise.all(
      Array.from({ length: 40 }, () => claimJob(testDatabase.database, 10_000)),
    );
    const ids = claims.flatMap((claim) => (claim === undefined ? [] : [claim.id]));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(20);
  });

  test('requeues expired leases, ignores their old workers and fails after too many attempts', async () => {
    const { database } = testDatabase;
    const id = await submit();
    const first = await claimJob(database, LAPSED);
    expect(await reapJobs(database)).toEqual({ requeued: 1, ended: [] });
    if (first === undefined) throw new Error('nothing claimed');
    expect(await renewLease(database, first, 1000)).toBe('lost');
    const contract = sampleContract(7, first.address, { runtimeMatch: 'full' });
    const saved = await saveMatch(database, contract);
    const result = { contract, compileTimeMs: 1, droppedSources: [] };
    await finishWithMatch(database, first, result, saved);
    expect(await readJob(database, id)).toMatchObject({ state: 'queued' });
    for (let attempt = 2; attempt <= MAX_ATTEMPTS; attempt += 1) {
      expect(await claimJob(database, LAPSED)).toMatchObject({ id, attempts: attempt });
      await reapJobs(database);
    }
    expect(await readJob(database, id)).toMatchObject({
      state: 'failed',
      failure: { code: 'internal_error' },
    });
    expect(await claimJob(database, 1)).toBeUndefined();
  });
});

describe('Retried jobs', () => {
  const failWith = async (code: FailureCode, database = testDatabase.database): Promise<string> => {
    const id = await submit();
    const claimed = await claimJob(database, 10_000);
    if (claimed === undefined) throw new Error('nothing claimed');
    await finishWithFailure(database, claimed, new VerificationFailure(code, 'as the test wants'));
    return id;
  };

  test('have the request of the failed one', async () => {
    const { database } = testDatabase;
    await submit();
    const before = await claimJob(database, 10_000);
    if (before === undefined) throw new Error('nothing claimed');
    await finishWithFailure(database, before, new VerificationFailure('compiler_timeout', 'slow'));
    const id = await retryJob(database, before.id);
    const { request, chainId, address } = before;
    expect(await claimJob(database, 10_000)).toMatchObject({ id, request, chainId, address });
  });

  test.each<FailureCode>(['no_match', 'compiler_error', 'job_cancelled'])(
    'are none after %s, whose request is not kept',
    async (code) => {
      const { database } = testDatabase;
      const id = await failWith(code);
      await expect(retryJob(database, id)).rejects.toMatchObject({ code: 'job_not_retriable' });
      expect(await retryFailures(database, code)).toEqual([]);
    },
  );

  test('are queued once, however often and concurrently they are requested', async () => {
    const { database } = testDatabase;
    for (let index = 0; index < 5; index += 1) await failWith('internal_error');
    const retried = await Promise.all(
      Array.from({ length: 4 }, () => retryFailures(database, 'internal_error')),
    );
    expect(new Set(retried.flat()).size).toBe(5);
    expect(retried.flat()).toHaveLength(5);
  });

  test('forget their request with the records of failed jobs', async () => {
    const { database } = testDatabase;
    const id = await failWith('job_timed_out');
    await database.query(
      sql(
        'test age failed job',
        `UPDATE verification_jobs SET finished_at = now() - interval '8 days' WHERE id = $1`,
      ),
      [id],
    );
    await deleteOldJobs(database);
    await expect(retryJob(database, id)).rejects.toMatchObject({ code: 'job_not_retriable' });
  });
});

describe('Turns', () => {
  /** Ends a claimed job as if it had taken a given time. */
  const endAfter = async ({ id, token }: { id: string; token: string }, ms: number) => {
    await testDatabase.database.query(
      sql(
        'test backdate',
        `UPDATE verification_jobs SET claimed_at = clock_timestamp() - $2 * interval '1 millisecond' WHERE id = $1`,
      ),
      [id, ms],
    );
    await finishWithFailure(
      testDatabase.database,
      { id, token } as ClaimedJob,
      new VerificationFailure('no_match', 'different'),
    );
  };
  const claim = () => claimJob(testDatabase.database, 10_000);

  test('go to the client with less time spent, for any mix of clients', async () => {
    const clients = fc.array(
      fc.record({ jobs: fc.integer({ min: 1, max: 6 }), ms: fc.integer({ min: 1, max: 60_000 }) }),
      { minLength: 2, maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(clients, async (mix) => {
        const { database } = testDatabase;
        await database.query(sql('test empty queue', 'DELETE FROM verification_jobs'));
        await database.query(sql('test empty usage', 'DELETE FROM client_usage'));
        for (const [index, { jobs }] of mix.entries()) {
          for (let job = 0; job < jobs; job += 1) await submit(undefined, `c${index}`);
        }
        const longest = Math.max(...mix.map(({ ms }) => ms));
        const left = mix.map(({ jobs }) => jobs);
        const spent = mix.map(() => 0);
        for (;;) {
          const job = await claim();
          if (job === undefined) break;
          const index = Number(job.client.slice(1));
          const least = Math.min(...spent.filter((_, other) => (left[other] ?? 0) > 0));
          // A client that has spent less is never served after one that has spent more, apart from the little
          // real time that passes.
          expect(spent[index]).toBeLessThanOrEqual(least + 200);
          expect(spent[index]).toBeLessThanOrEqual(least + longest);
          left[index] = (left[index] ?? 0) - 1;
          spent[index] = (spent[index] ?? 0) + (mix[index]?.ms ?? 0);
          await endAfter(job, mix[index]?.ms ?? 0);
        }
        expect(left.every((jobs) => jobs === 0)).toBe(true);
      }),
      { numRuns: 8 },
    );
  });

  test('alternate between networks before alternating between addresses of one network', async () => {
    for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '198.51.100.1']) {
      await submit(undefined, client);
    }
    expect((await claim())?.client).toBe('192.0.2.1');
    expect((await claim())?.client).toBe('198.51.100.1');
    expect((await claim())?.client).toBe('192.0.2.2');
  });

  test('go to a newcomer before the second job of clients with a running job', async () => {
    for (const bomber of ['x', 'x', 'y', 'y']) await submit(undefined, bomber);
    const first = [await claim(), await claim()];
    expect(first.map((job) => job?.client).sort()).toEqual(['x', 'y']);
    await submit(undefined, 'newcomer');
    if (first[0]) await endAfter(first[0], 30_000);
    expect((await claim())?.client).toBe('newcomer');
  });

  test('never give one client all workers while a client with more time spent waits', async () => {
    await spend('b', 50_000);
    for (const client of ['a', 'a', 'a', 'b']) await submit(undefined, client);
    expect((await claim())?.client).toBe('a');
    expect((await claim())?.client).toBe('b');
  });

  test('count the time of lost workers and handed-back jobs', async () => {
    await submit(undefined, 'a');
    const job = await claim();
    if (job === undefined) throw new Error('nothing claimed');
    await testDatabase.database.query(
      sql(
        'test lose',
        `UPDATE verification_jobs SET claimed_at = now() - interval '20 s', lease_until = now() - interval '1 s'`,
      ),
    );
    await reapJobs(testDatabase.database);
    await submit(undefined, 'b');
    expect((await claim())?.client).toBe('b');
    const again = await claim();
    if (again === undefined) throw new Error('nothing claimed');
    await releaseJob(testDatabase.database, again);
    const [usage] = await testDatabase.database.query<{ spent_ms: number }>(
      sql('test usage', `SELECT spent_ms FROM client_usage WHERE client = 'a'`),
    );
    expect(usage?.spent_ms).toBeGreaterThan(19_000);
    expect(usage?.spent_ms).toBeLessThan(22_000);
    expect((await claim())?.client).toBe('a');
  });

  test('forget the time spent after a while', async () => {
    const { database } = testDatabase;
    await spend('a', 1000);
    await spend('b', 100_000);
    await database.query(
      sql('test age', `UPDATE client_usage SET updated_at = now() - interval '11 s'`),
    );
    await deleteOldJobs(database);
    const rows = await database.query<{ client: string }>(
      sql('test clients', 'SELECT client FROM client_usage'),
    );
    expect(rows).toEqual([{ client: 'b' }]);
  });
});

describe('Workers', () => {
  test('finish a job with its match, its event and its timings', async () => {
    start(succeed);
    const job = await untilEnd(await submit());
    expect(job).toMatchObject({ state: 'succeeded', runtimeMatch: 'full', compileTimeMs: 12 });
    expect(job.eventNumber).toMatch(/^\d+$/);
    expect(job.finishedAt?.getTime()).toBeGreaterThanOrEqual(job.startedAt?.getTime() ?? Infinity);
    expect(job).not.toHaveProperty('failure');
  });

  test('extend the lease of a long job by heartbeats', async () => {
    const leaseMs = 60_000;
    const begun = new Gate();
    const gate = new Gate();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const verify: WorkerParts['verify'] = async (request, ...given) => {
        begun.open();
        await gate.opened;
        return succeed(request, ...given);
      };
      start(verify, { workers: 1, leaseMs, jobTimeoutMs: 600_000 });
      const id = await submit();
      await begun.opened;
      const leaseMicroseconds = async (): Promise<number> => {
        // Two heartbeats can fall into the same millisecond, the resolution of a Date.
        const [row] = await testDatabase.database.query<{ lease: number }>(
          sql(
            'test lease',
            `SELECT (extract(epoch FROM lease_until) * 1000000)::float8 AS lease
             FROM verification_jobs WHERE id = $1`,
          ),
          [id],
        );
        return row?.lease ?? 0;
      };
      for (let beat = 0; beat < 3; beat += 1) {
        const before = await leaseMicroseconds();
        vi.advanceTimersByTime(leaseMs / 6);
        await expect.poll(leaseMicroseconds).toBeGreaterThan(before);
      }
      gate.open();
      expect((await untilEnd(id)).state).toBe('succeeded');
    } finally {
      vi.useRealTimers();
    }
  });

  test('end an unresponsive job at its time limit and free the address', async () => {
    start(never, { jobTimeoutMs: 100 });
    const request = requestFor(freshAddress());
    const job = await untilEnd(await submit(request));
    expect(job.failure).toMatchObject({ code: 'job_timed_out' });
    await expect(submit(request)).resolves.toBeTruthy();
  });

  test('hide unexpected errors and sanitize messages that PostgreSQL cannot store', async () => {
    start(async ({ address }) => {
      if (address.endsWith('0'))
        throw new VerificationFailure('no_match', 'nul \0', { data: { x: '\0 \ud800' } });
      throw new Error('secret detail');
    });
    const jobs = await Promise.all(
      [
        '0x00000000000000000000000000000000000000f0',
        '0x00000000000000000000000000000000000000f1',
      ].map(async (address) => untilEnd(await submit(requestFor(address as Hex)))),
    );
    expect(jobs.map(({ failure }) => failure?.code)).toEqual(['no_match', 'internal_error']);
    expect(JSON.stringify(jobs)).not.toContain('secret detail');
  });

  test('retry after a brief database outage', async () => {
    let tries = 0;
    start(async (request, ...given) => {
      tries += 1;
      if (tries === 1) throw new FullmatchError('database_unreachable', 'away');
      return succeed(request, ...given);
    });
    expect(await untilEnd(await submit())).toMatchObject({ state: 'succeeded' });
    expect(tries).toBe(2);
  });

  test('hand back their jobs on close for another process to finish', async () => {
    // Only closing the workers can end the job before the test does.
    const stuck = start(never, { jobTimeoutMs: 600_000 });
    const id = await submit();
    await expect.poll(() => stuck.running).toBe(1);
    await stuck.close();
    expect(await readJob(testDatabase.database, id)).toMatchObject({ state: 'queued' });
    start(succeed);
    expect(await untilEnd(id)).toMatchObject({ state: 'succeeded' });
  });

  test('close cleanly at the moment a job begins', async () => {
    let closed: Promise<void> | undefined;
    const started: Workers = start(() => {
      closed ??= started.close();
      return never();
    });
    const id = await submit();
    await expect.poll(() => closed !== undefined).toBe(true);
    await closed;
    expect(await readJob(testDatabase.database, id)).toMatchObject({ state: 'queued' });
  });

  test('report the end of a job whose workers were lost too often', async () => {
    const { database } = testDatabase;
    await submit();
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      expect(await claimJob(database, LAPSED)).toMatchObject({ attempts: attempt });
      if (attempt < MAX_ATTEMPTS) await reapJobs(database);
    }
    const ends: JobEnd[] = [];
    start(never, {}, (end) => ends.push(end));
    await expect.poll(() => ends).toMatchObject([{ outcome: 'internal_error' }]);
    expect(ends[0]).toMatchObject({ kind: 'not_checked' });
    expect(ends[0]?.seconds).toBeGreaterThan(0);
  });

  test('of several processes run every job once', async () => {
    const done = new Map<string, number>();
    const verify: WorkerParts['verify'] = async (request, ...given) => {
      done.set(request.address, (done.get(request.address) ?? 0) + 1);
      return succeed(request, ...given);
    };
    for (let process = 0; process < 3; process += 1) start(verify);
    const ids = await Promise.all(Array.from({ length: 40 }, () => submit()));
    for (const id of ids) expect((await untilEnd(id)).state).toBe('succeeded');
    expect([...done.values()]).toEqual(Array.from({ length: 40 }, () => 1));
  });

  test('restart a job if its contract changes on chain, and fail it after three attempts', async () => {
    const verify = vi.fn(changed);
    start(verify);
    expect(await untilEnd(await submit())).toMatchObject({
      state: 'failed',
      failure: { code: 'contract_changed' },
    });
    expect(verify).toHaveBeenCalledTimes(3);
    verify.mockImplementationOnce(changed).mockImplementationOnce(succeed);
    expect(await untilEnd(await submit())).toMatchObject({ state: 'succeeded' });
  });

  test('stop a cancelled job, whether queued or running', async () => {
    const waiting = await submit();
    expect(await cancelJob(testDatabase.database, waiting)).toBe(true);
    expect((await readJob(testDatabase.database, waiting))?.failure?.code).toBe('job_cancelled');
    const stuck = start(never);
    const running = await submit();
    await expect.poll(() => stuck.running).toBe(1);
    expect(await cancelJob(testDatabase.database, running)).toBe(true);
    expect((await untilEnd(running)).failure?.code).toBe('job_cancelled');
    expect(await cancelJob(testDatabase.database, running)).toBe(false);
  });

  test('stop a cancelled job long before the next heartbeat', async () => {
    const stuck = start(never, { leaseMs: 3_600_000 });
    const running = await submit();
    await expect.poll(() => stuck.running).toBe(1);
    expect(await cancelJob(testDatabase.database, running)).toBe(true);
    expect((await untilEnd(running)).failure?.code).toBe('job_cancelled');
  });

  test.each([
    ['claimed by a worker', 'queued', 'running'],
    ['handed back by one', 'running', 'queued'],
  ] as const)('cancel a job even while it is %s', async (_what, before, after) => {
    const { database } = testDatabase;
    const id = await submit();
    const owner = sql('test client of job', 'SELECT client FROM verification_jobs WHERE id = $1');
    const [row] = await database.query<{ client: string }>(owner, [id]);
    const moves = (label: string, set: string) =>
      sql(`test ${label}`, `UPDATE verification_jobs SET ${set} WHERE id = $1`);
    const states = {
      queued: moves('queue job', `state = 'queued', lease_token = NULL, lease_until = NULL`),
      running: moves(
        'run job',
        `state = 'running', attempts = 1, started_at = now(), claimed_at = now(),
         lease_token = gen_random_uuid(), lease_until = now() + interval '1 hour'`,
      ),
    };
    if (before === 'running') await database.query(states.running, [id]);
    const isBlocked = sql(
      'test blocked statements',
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    let ending: Promise<VerificationJob> | undefined;
    await database.transaction(async (transaction) => {
      await transaction.query(states[after], [id]);
      ending = endJob(database, id, row?.client);
      ending.catch(() => undefined);
      await expect.poll(async () => (await database.query(isBlocked)).length).toBe(1);
    });
    const job = await ending;
    if (after === 'queued') expect(job).toMatchObject({ failure: { code: 'job_cancelled' } });
    else expect(await renewalOf(id)).toEqual({ cancel_requested: true });
  });

  test('let only the submitter or the operator cancel a job', async () => {
    const { database } = testDatabase;
    const waiting = await submit();
    const [owner] = await database.query<{ client: string }>(
      sql('test client of job', 'SELECT client FROM verification_jobs WHERE id = $1'),
      [waiting],
    );
    const byOther = (id: string) => endJob(database, id, 'somebody else');
    await expect(byOther(waiting)).rejects.toMatchObject({ code: 'job_of_another_client' });
    expect(await endJob(database, waiting, owner?.client)).toMatchObject({
      failure: { code: 'job_cancelled' },
    });
    await expect(endJob(database, waiting)).rejects.toMatchObject({ code: 'job_ended' });
    await expect(endJob(database, randomUUID())).rejects.toMatchObject({ code: 'job_not_found' });
    const stuck = start(never);
    const running = await submit();
    await expect.poll(() => stuck.running).toBe(1);
    await expect(byOther(running)).rejects.toMatchObject({ code: 'job_of_another_client' });
    // The worker may have noticed the cancellation before the job is read.
    expect(['running', 'failed']).toContain((await endJob(database, running)).state);
    expect((await untilEnd(running)).failure?.code).toBe('job_cancelled');
  });

  test('concurrent partial and full verifications of an address yield one full match', async () => {
    const address = freshAddress();
    start(async ({ chainId, request }) => {
      const { compilation } = JSON.parse(inflateSync(request).toString()) as VerificationRequest;
      const isFull = compilation.kind === 'metadata' && compilation.sources['a'] === 'full';
      return {
        contract: sampleContract(
          chainId,
          address,
          { runtimeMatch: isFull ? 'full' : 'partial' },
          { origin: 'verified', variant: isFull ? 1 : 2 },
        ),
        compileTimeMs: 1,
        droppedSources: [],
      };
    });
    const ids = await Promise.all(
      ['full', 'partial'].map((kind) =>
        submit({
          chainId: 99,
          address,
          compilation: { kind: 'metadata', metadata: {}, sources: { a: kind } },
        }),
      ),
    );
    for (const id of ids) expect((await untilEnd(id)).state).toBe('succeeded');
    const counts = await testDatabase.database.query(
      sql('test counts', 'SELECT full_match, partial_match FROM chain_counts WHERE chain_id = 99'),
    );
    expect(counts).toEqual([{ full_match: '1', partial_match: '0' }]);
  });
});
