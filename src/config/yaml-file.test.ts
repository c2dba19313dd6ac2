import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { FullmatchError } from '../errors.ts';
import { Problems } from './problems.ts';
import { parseYaml, locate } from './yaml-file.ts';

function read(text: string) {
  const problems = new Problems();
  const file = parseYaml({ name: 'f', text }, problems);
  problems.throwIfAny();
  return file!;
}

function placesOf(text: string): string[] {
  try {
    read(text);
  } catch (error) {
    if (!(error instanceof FullmatchError)) throw error;
    return (error.details['problems'] as { where: string }[]).map((problem) => problem.where);
  }
  return [];
}

describe('Strict YAML', () => {
  test.each([
    ['a duplicate key', 'a: 1\nb: 2\na: 3', 'f:3:1'],
    ['a duplicate key in another spelling', '1: x\n"1": y', 'f:2:1'],
    ['an alias', 'a: &x 1\nb: *x', 'f:2:4'],
    ['a tag', 'a: !!binary aGk=', 'f:1:13'],
    ['a tag of a map', 'a: !thing {}', 'f:1:4'],
    ['a second document', 'a: 1\n---\nb: 2', 'f:2:1'],
    ['a number that would be rounded', 'a: 9007199254740993', 'f:1:4'],
    ['a key that is not text', '? [a]\n: 1', 'f:1:3'],
    ['a tab', 'a:\n\tb: 1', 'f:2:1'],
    ['an open bracket', 'a: [1', 'f:1:6'],
  ])('rejects %s with its position', (_what, text, place) => {
    expect(placesOf(text)[0]).toBe(place);
  });

  test.each([
    ['brackets', '['.repeat(200_000)],
    ['braces', '{a: '.repeat(100_000)],
    ['dashes', '- '.repeat(200_000)],
    ['question marks', '? '.repeat(200_000)],
  ])('rejects nesting that would overflow the stack: %s', (_what, text) => {
    expect(placesOf(text)).toHaveLength(1);
  });

  test('does not expand aliases, so that a few lines cannot fill the memory', () => {
    const lines = Array.from({ length: 30 }, (_, index) => {
      const twice = index === 0 ? '[x, x]' : `[*a${index - 1}, *a${index - 1}]`;
      return `a${index}: &a${index} ${twice}`;
    });
    expect(placesOf(lines.join('\n'))).toHaveLength(58);
  });
});

describe('YAML values', () => {
  test('follow YAML 1.2: yes and dates are text, and a 0x1 key is kept', () => {
    expect(read('a: yes\nb: 2026-01-01\n0x1: ~\nc: 1_000\nd: true').value).toEqual({
      a: 'yes',
      b: '2026-01-01',
      '0x1': null,
      c: '1_000',
      d: true,
    });
  });

  test('under __proto__ are plain data', () => {
    const value = read('__proto__: { admin: true }').value as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(value['admin']).toBeUndefined();
  });

  test('survive a round trip', () => {
    const scalar = fc.oneof(fc.string(), fc.boolean(), fc.maxSafeInteger(), fc.constant(null));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        scalar,
        fc.array(tie('tree')),
        fc.dictionary(fc.string(), tie('tree')),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), tree, { noNullPrototype: true }), (value) => {
        const text = stringify(value, { aliasDuplicateObjects: false });
        expect(JSON.stringify(read(text).value)).toBe(JSON.stringify(value));
      }),
    );
  });
});

test('finds the position of a path, or of its nearest parent', () => {
  const { place } = read('a:\n  - b: 1\n    c: 2\nd: x');
  expect(locate(place, ['a', '0', 'c'])).toBe('f:3:5');
  expect(locate(place, ['a', '0'])).toBe('f:2:5');
  expect(locate(place, ['a', '5', 'c'])).toBe('f:1:1');
  expect(locate(place, ['d', 'e'])).toBe('f:4:1');
  expect(locate(place, [])).toBe('f:1:1');
});
