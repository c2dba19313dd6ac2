import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { sql } from '../store/database.ts';
import { serveReloadRequests, encodeResponse, requestReload } from './reload-requests.ts';
import { type ReloadOutcome } from './reloader.ts';

const NOTIFY = sql('notify in a test', 'SELECT pg_notify($1, $2)');
const TAKEN: ReloadOutcome = { taken: true, changed: ['chains.5'], restart: [] };

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

const ask = (timeoutMs: number) =>
  requestReload(testDatabase.database, { timeoutMs, signal: new AbortController().signal });

describe('Reload request', () => {
  test('gets no replies if no service listens', async () => {
    expect(await ask(200)).toEqual({ answers: [], expected: 0 });
  });

  test('reaches a service once, and the reply reaches the requester', async () => {
    let reloads = 0;
    const listening = await serveReloadRequests(testDatabase.database, async () => {
      reloads += 1;
      return TAKEN;
    });
    const [first, second] = await Promise.all([ask(5000), ask(5000)]);
    for (const { answers, expected } of [first, second]) {
      expect(expected).toBe(1);
      expect(answers).toEqual([{ service: expect.stringMatching(/\/\d+$/) as string, ...TAKEN }]);
    }
    expect(reloads).toBe(2);
    await listening.close();
    expect(await ask(200)).toMatchObject({ expected: 0 });
  });

  test('must identify itself; other notifications are ignored', async () => {
    let reloads = 0;
    const listening = await serveReloadRequests(testDatabase.database, async () => {
      reloads += 1;
      return TAKEN;
    });
    for (const payload of ['', 'now', '{"request":1}']) {
      await testDatabase.database.query(NOTIFY, ['fullmatch_reload', payload]);
      await testDatabase.database.query(NOTIFY, ['fullmatch_reload_answers', payload]);
    }
    expect((await ask(5000)).answers).toHaveLength(1);
    expect(reloads).toBe(1);
    await listening.close();
  });

  test('to an unresponsive service times out', async () => {
    const listening = await serveReloadRequests(
      testDatabase.database,
      () => new Promise(() => undefined),
    );
    expect(await ask(200)).toEqual({ answers: [], expected: 1 });
    await listening.close();
  });
});

describe('Reload reply', () => {
  test('fits into a notification for any content', () => {
    const keys = fc.array(fc.string({ unit: 'binary', maxLength: 300 }), { maxLength: 200 });
    fc.assert(
      fc.property(
        keys,
        keys,
        fc.string({ unit: 'binary', maxLength: 20_000, size: 'max' }),
        (changed, restart, reason) => {
          const outcome = { taken: false, changed, restart, code: 'not_ready', reason } as const;
          const payload = encodeResponse('request', 'host/1', outcome);
          expect(Buffer.byteLength(payload)).toBeLessThan(8000);
          expect(JSON.parse(payload)).toMatchObject({ taken: false, code: 'not_ready' });
        },
      ),
    );
  });

  test('is complete if short, and otherwise states how much was cut', () => {
    const whole = { taken: true, changed: ['chains.1'], restart: ['host'] };
    expect(JSON.parse(encodeResponse('r', 's', whole))).toEqual({
      request: 'r',
      service: 's',
      ...whole,
    });
    const changed = Array.from({ length: 2509 }, (_each, index) => `chains.${index}`);
    const cut = JSON.parse(encodeResponse('r', 's', { ...whole, changed })) as ReloadOutcome;
    expect(cut.changed.at(-1)).toBe('and 2469 more');
  });
});
