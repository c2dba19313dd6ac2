import { describe, expect, test } from 'vitest';
import { Closers } from './closers.ts';

/** Creates parts that record when they are closed; the named ones fail. */
function openParts(failing: readonly string[]) {
  const closed: string[] = [];
  const closers = new Closers();
  const partOf = (name: string) => ({
    close: async (): Promise<void> => {
      closed.push(name);
      if (failing.includes(name)) throw new Error(name);
    },
  });
  closers.add(partOf('database'));
  closers.add(partOf('compilers'));
  closers.addFirst(partOf('waiters'));
  closers.addFirst(partOf('listener'));
  return { closers, closed };
}

describe('Open parts', () => {
  test('are closed from the listeners down, the last opened first', async () => {
    const { closers, closed } = openParts([]);
    await closers.close();
    expect(closed).toEqual(['waiters', 'listener', 'compilers', 'database']);
  });

  test('are all closed even if one fails, and its error is thrown', async () => {
    for (const name of ['waiters', 'listener', 'compilers']) {
      const { closers, closed } = openParts([name]);
      await expect(closers.close()).rejects.toThrow(name);
      expect(closed.slice(-2)).toEqual(['compilers', 'database']);
    }
  });

  test('report the errors of all parts that fail to close', async () => {
    const { closers, closed } = openParts(['listener', 'compilers', 'database']);
    const error = await closers.close().catch((thrown: unknown) => thrown);
    expect(closed).toEqual(['waiters', 'listener', 'compilers', 'database']);
    expect((error as AggregateError).errors.map(String)).toEqual([
      'Error: listener',
      'Error: compilers',
      'Error: database',
    ]);
  });
});
