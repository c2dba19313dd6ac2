import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { PageCache, type CachedPage } from './page-cache.ts';

const made = (facts: Partial<CachedPage['page']> = {}): CachedPage => ({
  page: {
    ...{ status: 200, isStatic: false, isShared: true, isWhole: true },
    bytes: Buffer.from('<html>'),
    ...facts,
  },
});

describe('Page cache', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('keeps pages of published data until the next publication, at most a second', () => {
    const pages = new PageCache();
    const page = made();
    pages.keep('/', page, 7);
    expect(pages.find('/', 7)).toBe(page);
    expect(pages.find('/contracts', 7)).toBeUndefined();
    expect(pages.find('/', 8)).toBeUndefined();
    vi.advanceTimersByTime(999);
    expect(pages.find('/', 7)).toBe(page);
    vi.advanceTimersByTime(2);
    expect(pages.find('/', 7)).toBeUndefined();
  });

  test('keeps static pages indefinitely', () => {
    const pages = new PageCache();
    const page = made({ isStatic: true });
    pages.keep('/docs', page, undefined);
    vi.advanceTimersByTime(86_400_000);
    expect(pages.find('/docs', 9)).toBe(page);
  });

  test.each([
    ['of a part that could not be read', { isWhole: false }],
    ['of a thing that is not there', { status: 404 }],
    ['of a job, which changes without an event', { isShared: false }],
    ['longer than most', { bytes: Buffer.alloc(2 ** 18) }],
  ])('does not keep a page %s', (_what, facts) => {
    const pages = new PageCache();
    pages.keep('/', made(facts), 7);
    expect(pages.find('/', 7)).toBeUndefined();
  });

  test('does not keep pages that show more than published data', () => {
    const pages = new PageCache();
    pages.keep('/', made(), undefined);
    expect(pages.find('/', undefined)).toBeUndefined();
  });
});
