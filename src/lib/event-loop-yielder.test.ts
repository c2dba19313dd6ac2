import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { EventLoopYielder } from './event-loop-yielder.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('EventLoopYielder', () => {
  test('lets other work run once 5 ms have passed, and not before', async () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const pauses = new EventLoopYielder();
    let turns = 0;
    const other = nextTurn().then(() => (turns += 1));
    now.mockReturnValue(4.9);
    await pauses.take();
    expect(turns).toBe(0);
    now.mockReturnValue(5);
    await pauses.take();
    await other;
    expect(turns).toBe(1);
    const another = nextTurn().then(() => (turns += 1));
    await pauses.take();
    expect(turns).toBe(1);
    await another;
  });
});
