import { setImmediate as untilNextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { lockUntilCommit } from './advisory-locks.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase({ poolSize: 4 });
});
afterAll(() => testDatabase.drop());

test('takes an advisory lock from an idle holder so that others can proceed', async () => {
  let wake = (): void => undefined;
  let isHeld = (): void => undefined;
  const held = new Promise<void>((resolve) => (isHeld = resolve));
  const resting = testDatabase.database.transaction(async (transaction) => {
    await lockUntilCommit(transaction, 'jobPlaces');
    isHeld();
    await new Promise<void>((resolve) => (wake = resolve));
    await lockUntilCommit(transaction, 'jobPlaces');
  });
  const ended = resting.then(
    () => 'kept',
    () => 'lost',
  );
  await held;
  await testDatabase.database.transaction((transaction) =>
    lockUntilCommit(transaction, 'jobPlaces'),
  );
  wake();
  expect(await ended).toBe('lost');
});

test('does not wait for an advisory lock whose holder works for too long', async () => {
  let isHeld = (): void => undefined;
  const held = new Promise<void>((resolve) => (isHeld = resolve));
  let goesOn = true;
  const working = testDatabase.database.transaction(async (transaction) => {
    await lockUntilCommit(transaction, 'jobClaims');
    isHeld();
    while (goesOn) {
      await lockUntilCommit(transaction, 'jobClaims');
      await untilNextTurn();
    }
  });
  await held;
  const waiting = testDatabase.database.transaction((transaction) =>
    lockUntilCommit(transaction, 'jobClaims'),
  );
  await expect(waiting).rejects.toMatchObject({ code: 'database_unavailable' });
  goesOn = false;
  await working;
});
