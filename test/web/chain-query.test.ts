import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  FACET_NAMES,
  FACETS,
  formatChainQuery,
  NO_QUERY,
  parseChainQuery,
  SORT_KEYS,
} from '../../web/src/chains/chain-query.ts';

const facets = fc.record(
  Object.fromEntries(
    FACET_NAMES.map((name) => [
      name,
      fc.constantFrom(...FACETS[name].options.map(([value]) => value)),
    ]),
  ),
  { requiredKeys: [] },
);

describe('the chain table query', () => {
  test('survives a round trip through the URL', () => {
    const queries = fc.record({
      words: fc.string({ maxLength: 100 }),
      facets,
      sort: fc.constantFrom(...SORT_KEYS),
      descending: fc.boolean(),
      page: fc.integer({ min: 1, max: 1000 }),
    });
    fc.assert(
      fc.property(queries, (query) => {
        expect(parseChainQuery(formatChainQuery(query))).toEqual(query);
      }),
    );
  });

  test('is empty for an empty URL', () => {
    expect(parseChainQuery('')).toEqual(NO_QUERY);
    expect(formatChainQuery(NO_QUERY)).toBe('');
  });

  test.each([
    'supported=maybe',
    'sort=colour',
    'sort=',
    'page=0',
    'page=1.5',
    'page=x',
    '%%%',
    'x=1',
  ])('ignores %s', (query) => {
    expect(parseChainQuery(query)).toEqual(NO_QUERY);
  });

  test('accepts any text', () => {
    fc.assert(
      fc.property(fc.string(), (query) => {
        const parsed = parseChainQuery(query);
        expect(parseChainQuery(formatChainQuery(parsed))).toEqual(parsed);
      }),
    );
  });
});
