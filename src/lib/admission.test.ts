import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Gate } from '../../test/support/gate.ts';
import { Admission, type AdmissionLimits, type Leave, NotAdmitted } from './admission.ts';

const refused = (refusal: string): unknown => expect.objectContaining({ refusal });
/** Resolves after all settled promises have run their callbacks. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Admission', () => {
  test('limits concurrency and admits clients in turn', async () => {
    const admission = new Admission({ total: 2, waiting: 100 });
    const order: string[] = [];
    const ends: Leave[] = [];
    const ask = (client: string): Promise<void> =>
      admission.run(client, () => {
        order.push(client);
        return new Promise((resolve) => ends.push(resolve));
      });
    const all = ['a', 'a', 'a', 'a', 'b', 'c', 'b'].map(ask);
    await settled();
    expect(order).toEqual(['a', 'a']);
    expect([admission.running, admission.waiting]).toEqual([2, 5]);
    for (let done = 0; done < all.length; done += 1) {
      ends[done]?.();
      await settled();
    }
    await Promise.all(all);
    expect(order).toEqual(['a', 'a', 'a', 'b', 'c', 'a', 'b']);
    expect([admission.running, admission.waiting]).toEqual([0, 0]);
  });

  test('leaves slots to other clients when one has its share', async () => {
    const admission = new Admission({ total: 3, perClient: 1, waiting: 10 });
    const first = await admission.enter('a');
    let isIn = false;
    const second = admission.enter('a').then((leave) => {
      isIn = true;
      return leave;
    });
    const other = await admission.enter('b');
    expect(isIn).toBe(false);
    other();
    await settled();
    expect(isIn).toBe(false);
    first();
    (await second)();
    expect(admission.running).toBe(0);
  });

  test('rejects when the waiting list is full', async () => {
    const admission = new Admission({ total: 1, waiting: 2, waitingPerClient: 1 });
    const leave = await admission.enter('a');
    const waits = admission.enter('a');
    await expect(admission.enter('a')).rejects.toEqual(refused('client_full'));
    const other = admission.enter('b');
    await expect(admission.enter('c')).rejects.toEqual(refused('full'));
    leave();
    (await waits)();
    (await other)();
  });

  test('rejects at once if waiting is disabled', () => {
    const admission = new Admission({ total: 2, perClient: 1 });
    const leave = admission.enterNow('a');
    expect(() => admission.enterNow('a')).toThrow(refused('client_full'));
    admission.enterNow('b');
    expect(() => admission.enterNow('c')).toThrow(refused('full'));
    leave();
    leave();
    expect(admission.running).toBe(1);
  });

  test('rejects after the maximum wait', async () => {
    const admission = new Admission({ total: 1, waiting: 1, waitMs: 1 });
    const leave = await admission.enter('a');
    await expect(admission.enter('b')).rejects.toEqual(refused('waited_too_long'));
    expect(admission.waiting).toBe(0);
    leave();
  });

  test('drops waiting work when its client disconnects, but no running work', async () => {
    const admission = new Admission({ total: 1, waiting: 1 });
    const left = new AbortController();
    const gate = new Gate();
    const running = admission.run('a', () => gate.opened, left.signal);
    const waiting = admission.run('b', () => Promise.resolve(2), left.signal);
    await settled();
    left.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    gate.open();
    await running;
    await expect(admission.run('c', () => Promise.resolve(3), left.signal)).rejects.toThrow('left');
    expect([admission.running, admission.waiting]).toEqual([0, 0]);
  });

  test('releases the slot if the work fails', async () => {
    const admission = new Admission({ total: 1 });
    await expect(admission.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    );
    await expect(admission.run('a', () => Promise.resolve(1))).resolves.toBe(1);
  });

  test('never exceeds a limit and completes everything for any sequence', async () => {
    const client = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      fc.record({ kind: fc.constant('enter' as const), client }),
      fc.record({ kind: fc.constant('leave' as const), at: fc.nat(20) }),
      fc.record({ kind: fc.constant('abort' as const), at: fc.nat(20) }),
    );
    const limits: fc.Arbitrary<Required<Omit<AdmissionLimits, 'waitMs'>>> = fc.record({
      total: fc.integer({ min: 1, max: 4 }),
      perClient: fc.integer({ min: 1, max: 4 }),
      waiting: fc.nat(6),
      waitingPerClient: fc.nat(4),
    });
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 40 }), async (given, steps) => {
        const admission = new Admission(given);
        const inside: { client: string; leave: Leave }[] = [];
        const asked: { controller: AbortController; end: Promise<void> }[] = [];
        for (const each of steps) {
          if (each.kind === 'enter') {
            const controller = new AbortController();
            const end = admission.enter(each.client, controller.signal).then(
              (leave) => void inside.push({ client: each.client, leave }),
              (error: unknown) => {
                const isKnown = error instanceof NotAdmitted || (error as Error).message === 'left';
                expect(isKnown).toBe(true);
              },
            );
            asked.push({ controller, end });
          } else if (each.kind === 'leave')
            inside.splice(each.at % (inside.length || 1), 1)[0]?.leave();
          else asked[each.at % (asked.length || 1)]?.controller.abort(new Error('left'));
          await settled();
          expect(admission.running).toBe(inside.length);
          expect(admission.running).toBeLessThanOrEqual(given.total);
          expect(admission.waiting).toBeLessThanOrEqual(given.waiting);
          for (const name of ['a', 'b', 'c']) {
            const own = inside.filter((one) => one.client === name).length;
            expect(own).toBeLessThanOrEqual(given.perClient);
          }
        }
        while (inside.length > 0) {
          inside.pop()?.leave();
          await settled();
        }
        await Promise.all(asked.map(({ end }) => end));
        expect([admission.running, admission.waiting]).toEqual([0, 0]);
      }),
      { numRuns: 100 },
    );
  });
});
