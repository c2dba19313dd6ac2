import { setImmediate as nextPass } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import { PageTurns } from './page-turns.ts';

const clientOf = (
  name: string,
  signal = new AbortController().signal,
): {
  name: string;
  signal: AbortSignal;
} => ({ name, signal });

/** Pages that are made when they are let go. */
function heldPages(): {
  make: (name: string) => () => Promise<string>;
  begun: string[];
  open: () => void;
} {
  const begun: string[] = [];
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const make = (name: string) => async (): Promise<string> => {
    begun.push(name);
    await opened;
    return name;
  };
  return { make, begun, open };
}

const codeOf = async (page: Promise<unknown>): Promise<unknown> =>
  page.then(
    () => 'made',
    (error: unknown) => (error as { code?: string }).code ?? error,
  );

describe('pages in turns', () => {
  test('are made a few at once, those of another client before the many of one', async () => {
    const turns = new PageTurns();
    const { make, begun, open } = heldPages();
    const many = Array.from({ length: 20 }, () => turns.run(clientOf('10.0.0.1'), make('many')));
    const one = turns.run(clientOf('10.0.0.2'), make('one'));
    await nextPass();
    expect(begun).toEqual(Array.from({ length: 8 }, () => 'many'));
    open();
    expect(await one).toBe('one');
    expect(begun.indexOf('one')).toBeLessThan(11);
    expect(await Promise.all(many)).toHaveLength(20);
  });

  test('are refused to a client that waits for many, and to its network', async () => {
    const turns = new PageTurns();
    const { make, open } = heldPages();
    const codes = Array.from({ length: 40 }, () =>
      codeOf(turns.run(clientOf('203.0.113.1'), make('page'))),
    );
    const neighbour = codeOf(turns.run(clientOf('203.0.113.2'), make('page')));
    const other = codeOf(turns.run(clientOf('198.51.100.1'), make('page')));
    open();
    expect((await Promise.all(codes)).filter((code) => code === 'made').length).toBeLessThan(33);
    expect(await codes[39]).toBe('too_many_client_answers');
    expect([await neighbour, await other]).toEqual(['made', 'made']);
    expect(await codeOf(turns.run(clientOf('203.0.113.1'), make('page')))).toBe('made');
  });

  test('give way to a client that waits for few where many clients wait for many', async () => {
    const turns = new PageTurns();
    const { make, begun, open } = heldPages();
    const codes = Array.from({ length: 256 }, (_, index) =>
      codeOf(turns.run(clientOf(`10.0.0.${index % 8}`), make('many'))),
    );
    const few = codeOf(turns.run(clientOf('10.0.1.1'), make('few')));
    open();
    expect(await few).toBe('made');
    const lost = (await Promise.all(codes)).filter((code) => code !== 'made');
    expect(lost).toEqual(['too_many_answers']);
    expect(begun).toHaveLength(256);
  });

  test('are not made for clients that have left', async () => {
    const turns = new PageTurns();
    const { make, begun, open } = heldPages();
    const leaving = new AbortController();
    const pages = Array.from({ length: 30 }, () =>
      codeOf(turns.run(clientOf('10.0.0.1', leaving.signal), make('page'))),
    );
    await nextPass();
    leaving.abort(new Error('left'));
    open();
    await Promise.all(pages);
    expect(begun).toHaveLength(8);
  });
});
