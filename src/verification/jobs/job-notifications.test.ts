import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { notifyOfWork, watchJobs, type JobWatch } from './job-notifications.ts';

/** The largest number of workers that the configuration allows. */
const WAITERS = 64;
const LONG_MS = 600_000;

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

function waitTogether(signal: AbortSignal): Promise<unknown> {
  return Promise.all(Array.from({ length: WAITERS }, () => watch.wait(LONG_MS, signal)));
}

test('any number of waiters may share an abort signal without a leak warning', async () => {
  const warnings: Error[] = [];
  const keep = (warning: Error): number => warnings.push(warning);
  process.on('warning', keep);
  const ending = new AbortController();
  const waited = waitTogether(ending.signal);
  // Node emits a warning one turn after its cause.
  await nextTurn();
  ending.abort();
  await waited;
  process.off('warning', keep);
  expect(warnings).toEqual([]);
});

test('a notification wakes all waiters', async () => {
  const ending = new AbortController();
  const waited = waitTogether(ending.signal);
  await notifyOfWork(testDatabase.database);
  // The timeouts of the waits exceed that of the test.
  await waited;
});
