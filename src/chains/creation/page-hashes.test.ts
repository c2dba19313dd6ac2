import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import {
  EXPLORER_SAMPLES,
  fillPage,
  HOSTILE_PAGE_CHARACTERS,
  makeHostilePages,
} from '../../../test/support/explorer-pages.ts';
import { NO_SHARED_DATA, sharedData } from '../../../test/support/shared-data.ts';
import { type Hex } from '../../lib/hex.ts';
import { findPageHashes, JSON_TX_REGEX } from './page-hashes.ts';

const ADDRESS: Hex = `0x${'ad'.repeat(20)}`;
const HASH: Hex = `0x${'c5'.repeat(32)}`;
const LINK = '/tx/(.*?)"';
const real = sharedData('service-chains-2023.json') as
  Record<string, { readonly txRegex?: string }> | undefined;

describe('Transaction hash on an explorer page', () => {
  test.each(EXPLORER_SAMPLES)('is found on a page of $explorer', (sample) => {
    const [first] = findPageHashes(
      sample.txRegex ?? JSON_TX_REGEX,
      fillPage(sample, ADDRESS, HASH),
      3,
    );
    expect(first).toBe(HASH);
  });

  test.each(EXPLORER_SAMPLES)('is found late in a long page of $explorer', (sample) => {
    const page = `${'<p>x</p>\n'.repeat(90_000)}${fillPage(sample, ADDRESS, HASH)}`;
    expect(findPageHashes(sample.txRegex ?? JSON_TX_REGEX, page, 3)).toContain(HASH);
  });

  test.skipIf(real === undefined)(
    `has a sample for every pattern of 2023${real === undefined ? `: ${NO_SHARED_DATA}` : ''}`,
    () => {
      const known = new Set(EXPLORER_SAMPLES.map(({ txRegex }) => txRegex));
      const patterns = Object.values(real ?? {}).map(({ txRegex }) => txRegex);
      expect(patterns.filter((pattern) => !known.has(pattern))).toEqual([]);
    },
  );

  test('is returned in lower case', () => {
    const page = `<a href="/tx/${HASH.toUpperCase()}">`;
    expect(findPageHashes(LINK, page, 3)).toEqual([HASH]);
  });

  test.each([
    ['too short', HASH.slice(0, -1)],
    ['too long', `${HASH}0`],
    ['without 0x', HASH.slice(2)],
    ['with a letter that is not a digit', `${HASH.slice(0, -1)}g`],
    ['with white space around', ` ${HASH} `],
    ['an address', ADDRESS],
  ])('is ignored when it is %s', (_title, hit) => {
    expect(findPageHashes(LINK, `<a href="/tx/${hit}"> ${HASH}`, 3)).toEqual([]);
  });

  test('is returned once each, in page order, up to the limit', () => {
    const hashes = [1, 2, 2, 3, 4].map((digit): Hex => `0x${String(digit).repeat(64)}`);
    const page = hashes.map((hash) => `<a href="/tx/${hash}">`).join('\n');
    expect(findPageHashes(LINK, page, 3)).toEqual([hashes[0], hashes[1], hashes[3]]);
  });

  test('is found in a match that spans two slices', () => {
    for (const length of [12_200, 16_300, 16_384, 28_600]) {
      const page = `${'x'.repeat(length)}<a href="/tx/${HASH}">${'y'.repeat(20_000)}`;
      expect(findPageHashes(LINK, page, 1)).toEqual([HASH]);
    }
  });

  test('equals the first regex match for a page of one slice', () => {
    const piece = fc.constantFrom('/tx/', HASH, '"', ' ', '\n', `0x${'9'.repeat(64)}`, 'é');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const page = pieces.join('');
        const matcher = RE2JS.compile(LINK).matcher(page);
        const hits: string[] = [];
        while (matcher.find()) hits.push(matcher.group(1) ?? '');
        const first = hits.find((hit) => /^0x[0-9a-f]{64}$/.test(hit));
        expect(findPageHashes(LINK, page, 1)).toEqual(first === undefined ? [] : [first]);
      }),
    );
  });

  describe.each(EXPLORER_SAMPLES.flatMap(({ txRegex }) => txRegex ?? []))('by %s', (txRegex) => {
    const pages = makeHostilePages(txRegex, HOSTILE_PAGE_CHARACTERS);
    test.each(Object.entries(pages))('terminates on a hostile page: %s', (_name, page) => {
      const hashes = findPageHashes(txRegex, page, 3);
      expect(hashes.length).toBeLessThanOrEqual(3);
      for (const hash of hashes) expect(page.toLowerCase()).toContain(hash);
    });
  });
});
