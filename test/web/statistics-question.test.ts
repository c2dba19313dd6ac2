import { expect, test } from 'vitest';
import {
  listPresets,
  parseStatisticsQuery,
  formatStatisticsQuery,
} from '../../web/src/statistics/statistics-query.ts';

test('reads repeated and comma-separated chains, each once', () => {
  const { chains } = parseStatisticsQuery('chain=1&chain=10&chains=+base,+Arbitrum+One+,,10');
  expect(chains).toEqual(['1', '10', 'base', 'Arbitrum One']);
});

test('ignores unknown parameters and values and writes none of them', () => {
  const question = parseStatisticsQuery('show=x&scale=toString&interval=year&top=7&other=1');
  expect(question).toEqual(parseStatisticsQuery(''));
  expect(formatStatisticsQuery(question)).toBe('');
});

test('survives a round trip through the query string', () => {
  const query = 'chain=1&chain=base&show=chains&from=2026-01-01&interval=week&scale=log&top=25';
  expect(formatStatisticsQuery(parseStatisticsQuery(query))).toBe(query);
});

test('presets change only the time range, and "all" begins with the first contract', () => {
  const question = parseStatisticsQuery('chain=1&scale=log&from=2026-01-05&to=2026-01-06');
  const presets = listPresets(question, '2026-03-02T04:05:06Z', '2024-02-29T23:59:59Z');
  expect(
    presets.map(({ name, question: preset }) => [name, formatStatisticsQuery(preset)]),
  ).toEqual([
    ['30 days', 'chain=1&from=2026-02-01&scale=log'],
    ['90 days', 'chain=1&scale=log'],
    ['1 year', 'chain=1&from=2025-03-03&interval=week&scale=log'],
    ['all', 'chain=1&from=2024-02-29&interval=month&scale=log'],
  ]);
  expect(listPresets(question, '2026-03-02T04:05:06Z', undefined)).toHaveLength(3);
});
