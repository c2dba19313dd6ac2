import { describe, expect, test } from 'vitest';
import { buildVyperJson, vyperImportsOf, vyperPragmaOf } from './vyper-sources.ts';
import { newestSatisfying } from '../../web/src/verify/pragma-version.ts';

describe('Vyper pragma', () => {
  test.each([
    ['# @version 0.3.10', '0.3.10'],
    ['#@version ^0.3.0', '0.3.10'],
    ['# pragma version ~=0.4.0', '0.4.3'],
    ['#pragma version ==0.4.0', '0.4.0'],
    ['"""text"""\n# pragma version >=0.3.9,<0.4.0\n', '0.3.10'],
    ['# pragma version >=0.3.9, <0.4.1\r\nx: uint256', '0.4.0'],
  ])('%j allows at most %s', (text, newest) => {
    const known = ['0.3.9', '0.3.10', '0.4.0', '0.4.3'];
    expect(newestSatisfying(known, [vyperPragmaOf(text) ?? ''])).toBe(newest);
  });

  test.each(['x: uint256', 'a = "# @version 0.3.10"', '# pragma optimize gas'])(
    'is absent from %j',
    (text) => {
      expect(vyperPragmaOf(text)).toBeUndefined();
    },
  );
});

describe('Vyper imports', () => {
  const placesOf = (text: string): readonly string[] =>
    vyperImportsOf('src/tokens/Token.vy', text).filter((place) => place.endsWith('.vy'));

  test.each([
    ['import helper', ['src/tokens/helper.vy', 'helper.vy']],
    ['import lib.math as math', ['src/tokens/lib/math.vy', 'lib/math.vy']],
    ['from lib import math', ['src/tokens/lib/math.vy', 'lib/math.vy']],
    ['from . import owned', ['src/tokens/owned.vy']],
    ['from .parts import owned as o', ['src/tokens/parts/owned.vy']],
    ['from .. import owned, paused', ['src/owned.vy', 'src/paused.vy']],
    ['from ....far import owned', ['far/owned.vy']],
    ['    import indented', []],
    ['# import commented', []],
  ])('%j may resolve to %j', (text, places) => {
    expect(placesOf(text)).toEqual(places);
  });

  test('may be a module, an interface or an ABI', () => {
    expect(vyperImportsOf('a.vy', 'from . import b')).toEqual(['b.vy', 'b.vyi', 'b.json']);
  });

  test('are parsed in linear time from a hostile text', () => {
    const texts = [
      'from '.repeat(200_000),
      `from a import ${'a,'.repeat(200_000)}`,
      '# '.repeat(500_000),
    ];
    for (const text of texts) {
      expect(vyperImportsOf('a.vy', text).length).toBeLessThan(10_000);
      expect(vyperPragmaOf(text)).toBeUndefined();
    }
  });
});

describe('Vyper input', () => {
  const build = (parts: Omit<Parameters<typeof buildVyperJson>[0], 'parseAbi'>) =>
    buildVyperJson({ ...parts, parseAbi: (_path, content) => JSON.parse(content) as unknown });

  test('lists ABIs as interfaces and omits the default EVM version', () => {
    const sources = { 'A.vy': 'a', 'I.vyi': 'i', 'J.json': '[]' };
    expect(build({ sources, interfaces: { 'K.vy': 'k' }, evmVersion: 'default' })).toEqual({
      language: 'Vyper',
      sources: { 'A.vy': { content: 'a' }, 'I.vyi': { content: 'i' } },
      settings: {},
      interfaces: JSON.stringify({ 'J.json': { abi: [] }, 'K.vy': { content: 'k' } }),
    });
  });
});
