import { setImmediate as nextPass } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { NoPlace, Turns } from './turns.ts';

const AT_ONCE = 8;
const WAITING = { total: 256, perClient: 32 };

/** Work that ends when it is let go. */
function heldWork(): {
  work: (name: string) => () => Promise<string>;
  begun: string[];
  open: () => void;
} {
  const begun: string[] = [];
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const work = (name: string) => async (): Promise<string> => {
    begun.push(name);
    await opened;
    return name;
  };
  return { work, begun, open };
}

const endOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof NoPlace ? error.kind : error),
  );

describe('work in turns', () => {
  test('is begun a few pieces at once, those of another client before the many of one', async () => {
    const turns = new Turns(AT_ONCE, WAITING);
    const { work, begun, open } = heldWork();
    const many = Array.from({ length: 20 }, () => turns.run('10.0.0.1', work('many')));
    const one = turns.run('10.0.0.2', work('one'));
    await nextPass();
    expect(begun).toEqual(Array.from({ length: AT_ONCE }, () => 'many'));
    open();
    expect(await one).toBe('one');
    expect(begun.indexOf('one')).toBeLessThan(11);
    expect(await Promise.all(many)).toHaveLength(20);
  });

  test('is refused to a client that waits for much, which gives way within its network', async () => {
    const turns = new Turns(AT_ONCE, WAITING);
    const { work, open } = heldWork();
    const ends = Array.from({ length: 50 }, () => endOf(turns.run('203.0.113.1', work('many'))));
    const neighbour = endOf(turns.run('203.0.113.2', work('few')));
    const other = endOf(turns.run('198.51.100.1', work('few')));
    open();
    expect((await Promise.all(ends)).filter((end) => end === 'done')).toHaveLength(39);
    expect(await ends[49]).toBe('client_full');
    expect([await neighbour, await other]).toEqual(['done', 'done']);
    expect(await endOf(turns.run('203.0.113.1', work('again')))).toBe('done');
  });

  test('gives way to a client that waits for little where many clients wait for much', async () => {
    const turns = new Turns(AT_ONCE, WAITING);
    const { work, begun, open } = heldWork();
    const ends = Array.from({ length: AT_ONCE + WAITING.total }, (_, index) =>
      endOf(turns.run(`10.0.0.${index % 8}`, work('many'))),
    );
    const few = endOf(turns.run('10.0.1.1', work('few')));
    open();
    expect(await few).toBe('done');
    expect((await Promise.all(ends)).filter((end) => end !== 'done')).toEqual(['full']);
    expect(begun).toHaveLength(AT_ONCE + WAITING.total);
  });

  test('is not begun for a client that has left', async () => {
    const turns = new Turns(AT_ONCE, WAITING);
    const { work, begun, open } = heldWork();
    // Each request has a signal of its own.
    const leaving = Array.from({ length: 30 }, () => new AbortController());
    const ends = leaving.map(({ signal }) => endOf(turns.run('10.0.0.1', work('many'), signal)));
    await nextPass();
    for (const each of leaving) each.abort(new Error('left'));
    expect(turns.waiting).toBe(0);
    open();
    await Promise.all(ends);
    expect(begun).toHaveLength(AT_ONCE);
  });

  test('goes round the networks, and in a network round its clients', async () => {
    const turns = new Turns(1);
    const order: string[] = [];
    const clients = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2', '198.51.100.1'];
    await Promise.all(
      ['first', ...clients].map((client) => turns.run(client, async () => void order.push(client))),
    );
    expect(order).toEqual([
      ...['first', '192.0.2.1', '198.51.100.1', '192.0.2.2', '192.0.2.1', '192.0.2.1'],
    ]);
  });

  test('leaves places of those that run at once to other networks', async () => {
    const turns = new Turns({ total: 4, perNetwork: 3 });
    const { work, begun, open } = heldWork();
    const many = ['203.0.113.1', '203.0.113.2', '203.0.113.1', '203.0.113.2', '203.0.113.1'];
    const all = many.map((client) => turns.run(client, work('many')));
    await nextPass();
    expect(begun).toEqual(['many', 'many', 'many']);
    all.push(turns.run('198.51.100.1', work('other')), turns.run('192.0.2.1', work('last')));
    await nextPass();
    expect(begun).toEqual(['many', 'many', 'many', 'other']);
    open();
    await Promise.all(all);
    expect(begun).toHaveLength(7);
    expect(turns.waiting).toBe(0);
  });
});
