import { describe, expect, test } from 'vitest';
import { AUXDATA_FORMS, placeholderOf } from '../../test/support/bytecode/made-up-code.ts';
import { toCodeTemplate, type RecompiledCode } from './recompiled-code.ts';

const AUXDATA = AUXDATA_FORMS['0.6.0']?.('ab'.repeat(32)) ?? '';

function recompiled(code: string, rest: Partial<RecompiledCode> = {}): RecompiledCode {
  return { code, linkReferences: {}, auxdata: {}, ...rest };
}

const linked = (name: string, start: number, length = 20): Partial<RecompiledCode> => ({
  linkReferences: { 'a.sol': { [name]: [{ start, length }] } },
});

describe('toCodeTemplate', () => {
  test.each(['name', 'hash'] as const)(
    'replaces placeholders encoded as %s with zeros',
    (spelling) => {
      const code = `73${placeholderOf('a.sol:Sums', spelling)}50`;
      const template = toCodeTemplate(recompiled(code, linked('Sums', 1)));
      expect(template.bytes.toString('hex')).toBe(`73${'00'.repeat(20)}50`);
      expect(template.libraries).toEqual([{ id: 'a.sol:Sums', starts: [1] }]);
    },
  );

  test('hashes a library name once for any length and number of references', () => {
    const path = `${'a'.repeat(1_000_000)}.sol`;
    const references = Array.from({ length: 20_000 }, (_, index) => ({
      start: 20 * index,
      length: 20,
    }));
    const code = placeholderOf(`${path}:Sums`, 'hash').repeat(references.length);
    const linkReferences = { [path]: { Sums: references } };
    const { bytes } = toCodeTemplate(recompiled(code, { linkReferences }));
    expect(bytes.equals(Buffer.alloc(400_000))).toBe(true);
  });

  test('recognizes a placeholder with a non-ASCII name', () => {
    const name = Buffer.alloc(40, '_');
    Buffer.from('Füße.sol:Sums').copy(name, 2);
    const code = `6001${name.toString('utf8')}50${name.toString('utf8')}`;
    const template = toCodeTemplate(
      recompiled(code, {
        linkReferences: {
          'Füße.sol': {
            Sums: [
              { start: 2, length: 20 },
              { start: 23, length: 20 },
            ],
          },
        },
      }),
    );
    expect(template.bytes.toString('hex')).toBe(`6001${'00'.repeat(20)}50${'00'.repeat(20)}`);
  });

  test('recognizes a placeholder with a truncated name', () => {
    const path = 'a/long/way/down/to/the/library.sol';
    const placeholder = placeholderOf(`${path}:Sums`, 'name');
    const linkReferences = { [path]: { Sums: [{ start: 0, length: 20 }] } };
    expect(toCodeTemplate(recompiled(placeholder, { linkReferences })).bytes).toEqual(
      Buffer.alloc(20),
    );
  });

  test('accepts placeholders that are already zero', () => {
    const template = toCodeTemplate(recompiled('00'.repeat(20), linked('Sums', 0)));
    expect(template.libraries).toHaveLength(1);
  });

  test('keeps the position of the metadata hash in auxdata', () => {
    const template = toCodeTemplate(
      recompiled(`6001${AUXDATA}`, { auxdata: { '1': { offset: 2, value: `0x${AUXDATA}` } } }),
    );
    expect(template.auxdata).toEqual([{ id: '1', offset: 2, length: 53, hashOffset: 12 }]);
  });

  test.each<[string, RecompiledCode]>([
    ['code that is not hex', recompiled('60zz')],
    ['half a byte', recompiled('600')],
    ['a placeholder that no reference lists', recompiled(placeholderOf('a.sol:Sums', 'hash'))],
    [
      'a placeholder of another library',
      recompiled(placeholderOf('a.sol:Products', 'hash'), linked('Sums', 0)),
    ],
    ['an address where a placeholder belongs', recompiled('11'.repeat(20), linked('Sums', 0))],
    [
      'a reference beside its placeholder',
      recompiled(`60${placeholderOf('a.sol:Sums', 'hash')}`, linked('Sums', 0)),
    ],
    ['a reference beyond the code', recompiled('00'.repeat(20), linked('Sums', 1))],
    [
      'a library that is not as long as an address',
      recompiled('00'.repeat(32), linked('Sums', 0, 32)),
    ],
    [
      'an immutable beyond the code',
      recompiled('00'.repeat(32), { immutableReferences: { '3': [{ start: 1, length: 32 }] } }),
    ],
    [
      'an immutable before the code',
      recompiled('00'.repeat(64), { immutableReferences: { '3': [{ start: -1, length: 32 }] } }),
    ],
    [
      'an immutable that has a value',
      recompiled('01'.repeat(32), { immutableReferences: { '3': [{ start: 0, length: 32 }] } }),
    ],
    [
      'an immutable of two lengths',
      recompiled('00'.repeat(64), {
        immutableReferences: {
          '3': [
            { start: 0, length: 32 },
            { start: 32, length: 20 },
          ],
        },
      }),
    ],
    [
      'references that overlap',
      recompiled('00'.repeat(64), {
        immutableReferences: { '3': [{ start: 0, length: 32 }], '4': [{ start: 31, length: 32 }] },
      }),
    ],
    [
      'an immutable within an auxdata',
      recompiled(AUXDATA, {
        auxdata: { '1': { offset: 0, value: `0x${AUXDATA}` } },
        immutableReferences: { '3': [{ start: 10, length: 32 }] },
      }),
    ],
    [
      'an auxdata that is not there',
      recompiled(`00${AUXDATA}`, { auxdata: { '1': { offset: 0, value: `0x${AUXDATA}` } } }),
    ],
    [
      'an auxdata that is none',
      recompiled('60016002', { auxdata: { '1': { offset: 0, value: '0x60016002' } } }),
    ],
  ])('rejects %s', (_what, code) => {
    expect(() => toCodeTemplate(code)).toThrow(
      expect.objectContaining({ code: 'malformed_compiler_output' }),
    );
  });
});
