import { expect, test } from 'vitest';
import { isEverySourceHashed } from './vyper-imports.ts';

type Import = readonly [level: number, module: string | null, name: string];

/** A syntax tree with these imports. */
const tree = (...imports: readonly Import[]): unknown => ({
  body: imports.map(([level, module, name]) =>
    module === null && level === 0
      ? { ast_type: 'Import', name }
      : { ast_type: 'ImportFrom', level, module, name },
  ),
});

const isHashed = (
  sources: readonly string[],
  trees: Readonly<Record<string, unknown>> = {},
): boolean => isEverySourceHashed('a/main.vy', sources, new Map(Object.entries(trees)));

test('follows imports of modules', () => {
  const sources = ['a/main.vy', 'a/b/one.vy', 'a/two.vyi', 'c/three.json'];
  const main = tree([1, 'b', 'one'], [0, null, 'c.three']);
  expect(isHashed(sources, { 'a/main.vy': main, 'a/b/one.vy': tree([2, null, 'two']) })).toBe(true);
  expect(isHashed(sources, { 'a/main.vy': main, 'a/b/one.vy': tree([1, null, 'two']) })).toBe(
    false,
  );
  expect(isHashed(['a/main.vy'])).toBe(true);
});

test('does not follow imports of interfaces', () => {
  const trees = { 'a/main.vy': tree([0, null, 'one']), 'a/one.vyi': tree([0, null, 'two']) };
  expect(isHashed(['a/main.vy', 'a/one.vyi', 'a/two.vyi'], trees)).toBe(false);
});

test('does not follow ambiguous imports or those the compiler may provide', () => {
  const trees = { 'a/main.vy': tree([0, null, 'one'], [0, 'ethereum.ercs', 'IERC20']) };
  expect(isHashed(['a/main.vy', 'a/one.vy', 'c/one.vyi'], trees)).toBe(false);
  expect(isHashed(['a/main.vy', 'a/one.vy', 'ethereum/ercs/IERC20.vyi'], trees)).toBe(false);
  expect(isHashed(['a/main.vy', 'a/one.vy'], trees)).toBe(true);
});
