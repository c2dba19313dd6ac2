import { describe, expect, test } from 'vitest';
import { SharedWork, type Work } from './shared-work.ts';
import { NoPlace, Turns } from './turns.ts';

const PLACES = { total: 20, perClient: 15 };

interface Asked {
  readonly answer: Promise<string>;
  readonly leave: () => void;
}

/** One reader, which is busy until `free`; what was done afterwards, in its order. */
function busyReader(): {
  readonly turns: Turns;
  readonly done: string[];
  readonly ask: (client: string, key: string) => Asked;
  readonly free: () => Promise<void>;
} {
  const turns = new Turns(1, PLACES);
  const shared = new SharedWork<string>(turns);
  const done: string[] = [];
  let free = (): void => undefined;
  const busy = turns.run('busy', () => new Promise<void>((resolve) => (free = resolve)));
  const ask = (client: string, key: string): Asked => {
    const left = new AbortController();
    const work: Work<string> = async () => {
      done.push(key);
      await Promise.resolve();
      return `${key} for ${client}`;
    };
    const answer = shared.ask(key, { client, signal: left.signal }, work);
    answer.catch(() => undefined);
    return { answer, leave: () => left.abort(new Error('left')) };
  };
  return {
    ...{ turns, done, ask },
    free: () => {
      free();
      return busy;
    },
  };
}

describe('shared work', () => {
  test('is done once for all who ask, in the first turn that comes to any of them', async () => {
    const { turns, done, ask, free } = busyReader();
    const flood = Array.from({ length: 9 }, (_, index) => ask('192.0.2.1', `heavy ${index}`));
    const first = ask('192.0.2.1', 'popular');
    const second = ask('198.51.100.1', 'popular');
    await free();
    expect(await second.answer).toBe('popular for 198.51.100.1');
    expect(done.length).toBeLessThanOrEqual(3);
    expect(await first.answer).toBe(await second.answer);
    await Promise.all(flood.map(({ answer }) => answer));
    expect(done.filter((key) => key === 'popular')).toHaveLength(1);
    expect(turns.waiting).toBe(0);
  });

  test('is dropped when its last asker has left, and not before', async () => {
    const { turns, done, ask, free } = busyReader();
    const abandoned = Array.from({ length: 9 }, (_, index) => ask('192.0.2.1', `heavy ${index}`));
    const leaver = ask('192.0.2.1', 'popular');
    const stayer = ask('198.51.100.1', 'popular');
    [...abandoned, leaver].forEach(({ leave }) => leave());
    expect(turns.waiting).toBe(1);
    await expect(leaver.answer).rejects.toThrow('left');
    await free();
    expect(await stayer.answer).toBe('popular for 198.51.100.1');
    expect(done).toEqual(['popular']);
    expect(await ask('192.0.2.1', 'popular').answer).toBe('popular for 192.0.2.1');
  });

  test('tells work that has begun when nobody waits for it any more', async () => {
    const shared = new SharedWork<string>(new Turns(1));
    const left = new AbortController();
    const asker = { client: 'a', signal: left.signal };
    let finish = (): void => undefined;
    const answer = shared.ask('key', asker, async (unwanted) => {
      await new Promise<void>((resolve) => (finish = resolve));
      unwanted.throwIfAborted();
      return 'done';
    });
    left.abort(new Error('left'));
    finish();
    await expect(answer).rejects.toThrow('left');
    const next = { client: 'a', signal: new AbortController().signal };
    expect(await shared.ask('key', next, async () => 'anew')).toBe('anew');
  });

  test('fails for all who ask, and is begun anew for the next', async () => {
    const shared = new SharedWork<string>(new Turns(1));
    const { signal } = new AbortController();
    const fail = (): Promise<string> => Promise.reject(new Error('broken'));
    const asked = ['a', 'b'].map((client) => shared.ask('key', { client, signal }, fail));
    const ends = await Promise.allSettled(asked);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await shared.ask('key', { client: 'c', signal }, async () => 'done')).toBe('done');
  });

  test('of one network takes no more places than it may, and gives them up to others', async () => {
    const { turns, ask, free } = busyReader();
    const flood = Array.from({ length: 16 }, (_, index) => ask('192.0.2.1', `heavy ${index}`));
    await expect(flood[15]?.answer).rejects.toEqual(new NoPlace('client_full'));
    const others = Array.from({ length: 6 }, (_, index) => ask('198.51.100.1', `mine ${index}`));
    await expect(flood[14]?.answer).rejects.toEqual(new NoPlace('full'));
    expect(turns.waiting).toBe(20);
    await free();
    expect(await Promise.all(others.map(({ answer }) => answer))).toHaveLength(6);
    await Promise.allSettled(flood.map(({ answer }) => answer));
    expect(turns.waiting).toBe(0);
  });
});
