import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runInProcess } from '../../test/support/run-cli.ts';
import { sampleAddress } from '../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { checksumAddress } from '../lib/hex.ts';
import { sql } from '../store/database.ts';
import { claimJob, finishWithFailure, renewLease } from '../verification/jobs/run-jobs.ts';
import { submitJob } from '../verification/jobs/submit-job.ts';
import { VerificationFailure } from '../verification/verification-failure.ts';
import { packRequest } from '../verification/verification-request.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

let next = 0;
const submit = (): Promise<string> =>
  submitJob(
    testDatabase.database,
    packRequest({
      chainId: 7,
      address: sampleAddress((next += 1)),
      compilation: { kind: 'metadata', metadata: {}, sources: { a: 'x' } },
    }),
    'client',
    { total: 100, perClient: 100 },
  );
const run = (...args: string[]) =>
  runInProcess(['jobs', ...args], { environment: { DATABASE_URL: testDatabase.url } });
const listed = async (...args: string[]): Promise<{ id: string; state: string }[]> =>
  JSON.parse((await run('list', '--json', ...args)).stdout) as { id: string; state: string }[];

beforeEach(async () => {
  await testDatabase.database.query(sql('test no jobs', 'DELETE FROM verification_jobs'));
});

describe('fullmatch jobs', () => {
  test('lists unfinished jobs, newest first, and other states on request', async () => {
    expect((await run('list')).stdout).toBe('no jobs are queued or running\n');
    const ids = [await submit(), await submit(), await submit()];
    await claimJob(testDatabase.database, 60_000);
    expect((await listed()).map(({ id, state }) => [id, state])).toEqual([
      [ids[2], 'queued'],
      [ids[1], 'queued'],
      [ids[0], 'running'],
    ]);
    expect((await listed('--limit', '1')).map(({ id }) => id)).toEqual([ids[2]]);
    expect((await listed('--state', 'running')).map(({ id }) => id)).toEqual([ids[0]]);
    expect(await listed('--state', 'failed', '--state', 'succeeded')).toEqual([]);
    const { stdout } = await run('list');
    expect(stdout).toContain(checksumAddress(sampleAddress(next)));
    expect(stdout.trim().split('\n')).toHaveLength(4);
  });

  test('cancels a queued job at once and shows the result', async () => {
    const id = await submit();
    const { exitCode, stdout } = await run('cancel', id);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `cancelled ${id}\n` });
    const shown = await run('show', id, '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({
      id,
      state: 'failed',
      address: checksumAddress(sampleAddress(next)),
      failure: { code: 'job_cancelled' },
    });
    expect((await run('show', id)).stdout).toMatch(/^outcome +job_cancelled$/m);
    expect(await claimJob(testDatabase.database, 60_000)).toBeUndefined();
  });

  test('asks the worker of a running job to stop', async () => {
    const id = await submit();
    const claimed = await claimJob(testDatabase.database, 60_000);
    const { exitCode, stdout } = await run('cancel', id, '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id, state: 'running' });
    if (claimed === undefined) throw new Error('nothing claimed');
    expect(await renewLease(testDatabase.database, claimed, 60_000)).toBe('cancelled');
  });

  test('refuses to cancel a finished job', async () => {
    const id = await submit();
    await run('cancel', id);
    const { exitCode, stderr } = await run('cancel', id);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('error[job_ended]');
  });

  test('queues a failed job again, or all that failed with a code', async () => {
    const failed: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      failed.push(await submit());
      const claimed = await claimJob(testDatabase.database, 60_000);
      if (claimed === undefined) throw new Error('nothing claimed');
      const failure = new VerificationFailure('cannot_fetch_bytecode', 'no endpoint');
      await finishWithFailure(testDatabase.database, claimed, failure);
    }
    const one = await run('retry', failed[0] ?? '', '--json');
    expect(JSON.parse(one.stdout)).toEqual({ jobs: [expect.stringMatching(/^[0-9a-f-]{36}$/)] });
    const others = await run('retry', 'cannot_fetch_bytecode');
    expect(others.stdout.trim().split('\n')).toHaveLength(2);
    expect(await listed('--state', 'queued')).toHaveLength(3);
    expect((await run('retry', 'cannot_fetch_bytecode')).stdout).toBe(
      'no kept job failed with cannot_fetch_bytecode\n',
    );
    const again = await run('retry', failed[0] ?? '');
    expect([again.exitCode, again.stderr]).toEqual([
      1,
      expect.stringContaining('error[job_not_retriable]'),
    ]);
  });

  test.each([
    ['an id that is not a job’s', 'job_not_found', ['cancel', randomUUID()]],
    ['an id that is not a job’s, to retry', 'job_not_found', ['retry', randomUUID()]],
    ['an id that is none', 'job_not_found', ['cancel', "x' OR true"]],
    ['an id that is none, to show', 'job_not_found', ['show', '7']],
    ['a state that is none', 'invalid_parameter', ['list', '--state', 'done']],
    ['a limit that is none', 'invalid_parameter', ['list', '--limit', '0']],
  ])('rejects %s', async (_what, code, args) => {
    const { exitCode, stderr } = await run(...args);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`error[${code}]`);
  });
});
