import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { pageTooLarge, TooLargePages } from './too-large-pages.ts';

const tooLarge = expect.objectContaining({ code: 'page_too_large' }) as Error;
const { signal } = new AbortController();
const MINUTE_MS = 60_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

describe('Pages that proved too large', () => {
  /** Returns the pages, and a function that fails to write a page and returns how often it tried. */
  function refusedPages(): { pages: TooLargePages; fail: (key: string) => Promise<number> } {
    const pages = new TooLargePages();
    const fail = async (key: string): Promise<number> => {
      let written = 0;
      const write = (): Promise<never> => {
        written += 1;
        return Promise.reject(pageTooLarge());
      };
      await expect(pages.write(key, signal, write)).rejects.toEqual(tooLarge);
      return written;
    };
    return { pages, fail };
  }

  test('are refused without rendering for a minute, doubling with each failure', async () => {
    const { fail } = refusedPages();
    for (const minutes of [1, 2, 4]) {
      expect(await fail('a')).toBe(1);
      vi.advanceTimersByTime(minutes * MINUTE_MS - 1);
      expect(await fail('a')).toBe(0);
      vi.advanceTimersByTime(1);
    }
    expect(await fail('b')).toBe(1);
  });

  test('are forgotten after a successful rendering', async () => {
    const { pages, fail } = refusedPages();
    await fail('a');
    vi.advanceTimersByTime(MINUTE_MS);
    expect(await pages.write('a', signal, () => Promise.resolve('page'))).toBe('page');
    expect(await fail('a')).toBe(1);
    vi.advanceTimersByTime(MINUTE_MS);
    expect(await fail('a')).toBe(1);
  });

  test('are refused to all their waiters, without affecting other pages', async () => {
    const pages = new TooLargePages();
    const waiting = (key: string): Promise<unknown> =>
      pages.write(key, signal, (either) => {
        return new Promise((_, reject) => {
          either.addEventListener('abort', () => reject(either.reason as Error));
        });
      });
    const same = Promise.allSettled([waiting('a'), waiting('a')]);
    const other = vi.fn();
    void waiting('b').catch(other);
    const failing = pages.write('a', signal, () => Promise.reject(pageTooLarge()));
    await expect(failing).rejects.toEqual(tooLarge);
    expect(
      (await same).map((each) => each.status === 'rejected' && (each.reason as unknown)),
    ).toEqual([tooLarge, tooLarge]);
    expect(other).not.toHaveBeenCalled();
  });

  test('do not include pages that failed for other reasons', async () => {
    const { pages, fail } = refusedPages();
    const broken = pages.write('a', signal, () => Promise.reject(new Error('broken')));
    await expect(broken).rejects.toThrow('broken');
    expect(await fail('a')).toBe(1);
  });

  test('are bounded in number, evicting the oldest refusal', async () => {
    const { fail } = refusedPages();
    for (let index = 0; index <= 1_000; index += 1) await fail(`${index}`);
    expect(await fail('1')).toBe(0);
    expect(await fail('0')).toBe(1);
  });
});
