import { describe, expect, test } from 'vitest';
import { type RefusedEntry } from '../importer/refusal.ts';
import { type ImportSummary } from '../importer/import-tally.ts';
import { formatSeconds, renderProgress, renderSummary } from './import-report.ts';

const counts = { stored: 0, upgraded: 0, unchanged: 0, kept: 0, refused: 0 };

test.each([
  [0.4, '0 s'],
  [59.4, '59 s'],
  [59.5, '1 min 0 s'],
  [3599, '59 min 59 s'],
  [3600, '1 h 0 min'],
  [100_000, '27 h 46 min'],
])('formats %d seconds as %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

describe('renderProgress', () => {
  test('shows progress, rate and time left', () => {
    const progress = {
      ...counts,
      refused: 3,
      done: 500,
      total: 2000,
      entriesPerSecond: 50,
      secondsLeft: 30,
    };
    expect(renderProgress(progress)).toBe('500 of 2,000 entries, 25%, 50/s, 30 s left, 3 refused');
    expect(renderProgress(progress, true)).toMatch(/^█{6}░{18} 500 of/);
  });

  test('shows no estimate before the entries are counted', () => {
    const progress = { ...counts, done: 500, entriesPerSecond: 50 };
    expect(renderProgress(progress)).toBe('500 entries, 50/s');
    expect(renderProgress(progress, true)).toMatch(/^░{24} 500 entries/);
  });

  test('never exceeds 100%', () => {
    const progress = { ...counts, done: 3, total: 2, entriesPerSecond: 1, secondsLeft: 0 };
    expect(renderProgress(progress)).toContain('100%');
    expect(renderProgress({ ...progress, done: 0, total: 0 }, true)).toMatch(/^░{24}/);
  });
});

describe('renderSummary', () => {
  const entry = (number: number): RefusedEntry => ({
    path: `full_match/1/${number}`,
    reason: 'invalid_address',
    detail: `${number}: no address`,
  });
  const summary: ImportSummary = {
    root: '/tree',
    dryRun: false,
    interrupted: false,
    chains: [{ chainId: 1, ...counts, stored: 1234, refused: 25 }],
    totals: { ...counts, stored: 1234, refused: 25 },
    foreignFiles: 2,
    refusedByReason: { invalid_address: 25 },
    refused: Array.from({ length: 25 }, (_, index) => entry(index)),
    durationMs: 61_000,
    entriesPerSecond: 20,
  };

  test('lists the first rejected entries and the number of others', () => {
    const text = renderSummary(summary);
    expect(text).toContain(
      '1,234 stored, 0 upgraded, 0 unchanged, 25 refused in 1 min 1 s (20/s)\n',
    );
    expect(text).toContain('2 files that do not belong to the tree were left alone\n');
    expect(text.match(/^refused /gm)).toHaveLength(20);
    expect(text).toContain('and 5 more; --json lists every refused entry\n');
  });

  test('contains no table for an empty tree', () => {
    const empty = { ...summary, chains: [], totals: counts, refused: [], foreignFiles: 0 };
    expect(renderSummary(empty)).toBe(
      '0 stored, 0 upgraded, 0 unchanged, 0 refused in 1 min 1 s (20/s)\n',
    );
  });
});
