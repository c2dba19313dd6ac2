import { describe, expect, test } from 'vitest';

import { formatCsv } from '../../web/src/csv.ts';
import {
  formatAgo,
  formatChange,
  formatCount,
  formatShare,
  formatSpan,
  formatTime,
} from '../../web/src/format.ts';

const plain = (text: string): string => text.replaceAll(/\u00a0/g, ' ');

describe('numbers', () => {
  test.each([
    [0, '0'],
    [999, '999'],
    [45_000_000, '45,000,000'],
    [9_007_199_254_740_991, '9,007,199,254,740,991'],
  ])('%i is formatted as %s', (value, text) => expect(plain(formatCount(value))).toBe(text));

  test.each([
    [0, '±0'],
    [1234, '+1,234'],
    [-5, '−5'],
  ])('a change of %i is formatted as %s', (value, text) =>
    expect(plain(formatChange(value))).toBe(text),
  );

  test.each([
    [0, '0%'],
    [0.000_1, '< 1%'],
    [0.5, '50%'],
    [0.999_9, '> 99%'],
    [1, '100%'],
  ])('a share of %d is formatted as %s', (share, text) =>
    expect(plain(formatShare(share))).toBe(text),
  );
});

describe('times', () => {
  test.each([
    [-3, '0 s'],
    [59.9, '59 s'],
    [60, '1 min'],
    [7199, '1 h'],
    [90_000_000, '1,041 d'],
  ])('%d seconds are formatted as %s', (seconds, text) =>
    expect(plain(formatSpan(seconds))).toBe(text),
  );

  test('are formatted in UTC, and relative to a given moment', () => {
    expect(formatTime('2026-02-03T04:05:06.789Z')).toBe('2026-02-03 04:05 UTC');
    expect(plain(formatAgo('2026-02-03T04:05:06Z', '2026-02-03T04:08:06Z'))).toBe('3 min ago');
  });
});

describe('CSV', () => {
  test('quotes what requires quotes and ends lines as in RFC 4180', () => {
    const rows = [
      ['a,b', 'say "hi"', 'two\nlines'],
      [1, true, null],
    ];
    expect(formatCsv(['x', 'y', 'z'], rows)).toBe(
      'x,y,z\r\n"a,b","say ""hi""","two\nlines"\r\n1,true,\r\n',
    );
  });

  test.each(['=1+1', '+1', '-1', '@x', '\tx'])('escapes %j so it is not a formula', (text) => {
    expect(formatCsv(['x'], [[text]])).toBe(`x\r\n'${text}\r\n`);
  });

  test('leaves negative numbers unchanged', () => {
    expect(formatCsv(['x'], [[-1]])).toBe('x\r\n-1\r\n');
  });
});
