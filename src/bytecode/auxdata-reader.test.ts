import { describe, expect, test } from 'vitest';
import { AUXDATA_FORMS } from '../../test/support/bytecode/made-up-code.ts';
import { auxdataReaderOf } from './auxdata-reader.ts';
import { toRecompiledCodes, type CompiledContract } from './compiled-contract.ts';
import { toCodeTemplate } from './recompiled-code.ts';

const [OWN, CHILD, OTHER] = ['aa', 'bb', 'cc'].map((byte) => byte.repeat(32)) as [
  string,
  string,
  string,
];
const auxdata = (hash: string): string => AUXDATA_FORMS['0.6.0']?.(hash) ?? '';
const HASHLESS = AUXDATA_FORMS.hashless?.('') ?? '';

/** The assembly of a contract whose runtime bytecode has an auxdata and nested contracts with their own. */
function assembly(own?: string, ...within: readonly string[]): object {
  const children = within.map((value, index) => [
    String(index),
    { '.code': [], '.data': { '0': { '.auxdata': value, '.code': [] } } },
  ]);
  return {
    '.code': [],
    '.data': {
      '0': {
        '.code': [],
        ...(own && { '.auxdata': own }),
        '.data': Object.fromEntries(children) as object,
      },
      A1B2: '6001',
    },
  };
}

function compiled(runtime: string, creation: string, legacyAssembly?: unknown): CompiledContract {
  return {
    evm: { bytecode: { object: creation }, deployedBytecode: { object: runtime }, legacyAssembly },
  };
}

const solidity = auxdataReaderOf('Solidity');

describe('auxdataReaderOf', () => {
  test('accepts Solidity and Yul in any case', () => {
    expect(auxdataReaderOf('solidity')).toBe(solidity);
    expect(auxdataReaderOf('YUL')).toBe(auxdataReaderOf('Yul'));
  });

  test.each(['Fe', '', '__proto__'])('rejects %j', (language) => {
    expect(() => auxdataReaderOf(language)).toThrow(
      expect.objectContaining({ code: 'unsupported_language', details: { language } }),
    );
  });
});

describe('Solidity reader', () => {
  test('locates the only auxdata at the end of the runtime bytecode and in the creation bytecode', () => {
    const own = auxdata(OWN);
    expect(solidity.read(compiled(`6001${own}`, `60026003${own}6004`, assembly(own)))).toEqual({
      state: 'located',
      runtime: { '1': { offset: 2, value: `0x${own}` } },
      creation: { '1': { offset: 4, value: `0x${own}` } },
    });
  });

  test('finds none in creation bytecode without embedded runtime bytecode', () => {
    const own = auxdata(OWN);
    expect(solidity.read(compiled(`6001${own}`, '6002', assembly(own)))).toMatchObject({
      state: 'located',
      creation: {},
    });
  });

  test.each([
    ['several are listed', compiled('60', '60', assembly(auxdata(OWN), auxdata(CHILD)))],
    ['none is listed', compiled('60', '60', assembly())],
    ['the compiler gives no assembly', compiled('60', '60')],
    ['the assembly is null', compiled('60', '60', null)],
    [
      'the creation code has it twice',
      compiled(auxdata(OWN), auxdata(OWN).repeat(2), assembly(auxdata(OWN))),
    ],
    [
      'the only one is that of a contract within',
      compiled('60', '60', assembly(undefined, auxdata(CHILD))),
    ],
  ])('requests a second compilation when %s', (_when, contract) => {
    expect(solidity.read(contract)).toEqual({ state: 'edit_needed' });
  });

  test('needs no second compilation for auxdata without a hash', () => {
    const contract = compiled(
      `60${HASHLESS}${HASHLESS}`,
      `61${HASHLESS}${HASHLESS}`,
      assembly(HASHLESS, HASHLESS),
    );
    expect(solidity.read(contract)).toEqual({
      state: 'located',
      runtime: { '1': { offset: 13, value: `0x${HASHLESS}` } },
      creation: {},
    });
  });

  test.each([
    [
      'is not at the end of the runtime code',
      compiled(`${auxdata(OWN)}00`, '60', assembly(auxdata(OWN))),
    ],
    ['is longer than the runtime code', compiled('60', '60', assembly(auxdata(OWN)))],
    ['is not auxdata', compiled('6001', '60', assembly('6001'))],
  ])('reports unlocated when the listed auxdata %s', (_what, contract) => {
    expect(solidity.read(contract)).toEqual({ state: 'unlocated' });
  });

  const both = (own: string, child: string, listed = assembly(auxdata(own), auxdata(child))) =>
    compiled(
      `6001${auxdata(child)}${auxdata(own)}`,
      `6002${auxdata(child)}${auxdata(own)}`,
      listed,
    );

  test('locates several auxdata by what changes with the metadata', () => {
    const reading = solidity.read(both(OWN, CHILD), both(OTHER, 'dd'.repeat(32)));
    expect(reading).toMatchObject({
      state: 'located',
      runtime: { '1': { offset: 2, value: `0x${auxdata(CHILD)}` }, '2': { offset: 55 } },
      creation: { '1': { offset: 2 }, '2': { offset: 55, value: `0x${auxdata(OWN)}` } },
    });
  });

  test('rejects a position that the compiler does not list', () => {
    const listed = assembly(auxdata(OWN), auxdata(OTHER));
    expect(solidity.read(both(OWN, CHILD, listed), both(OTHER, 'dd'.repeat(32)))).toEqual({
      state: 'unlocated',
    });
  });

  test("rejects an edit that left the contract's own hash unchanged", () => {
    expect(solidity.read(both(OWN, CHILD), both(OWN, OTHER))).toEqual({ state: 'unlocated' });
  });

  test('reports no auxdata for a contract without any', () => {
    expect(
      solidity.read(compiled('6001', '6002', assembly()), compiled('6001', '6002', assembly())),
    ).toEqual({
      state: 'located',
      runtime: {},
      creation: {},
    });
  });

  test('changes the metadata through the sources alone without modifying its input', () => {
    const sources = JSON.parse('{"a.sol":{"content":"x"},"__proto__":{"content":"y"}}') as Record<
      string,
      { content: string }
    >;
    const input = { sources, settings: { remappings: [] } };
    const edited = solidity.changeMetadata(input);
    expect(JSON.stringify(edited.sources)).toBe(
      '{"a.sol":{"content":"x "},"__proto__":{"content":"y "}}',
    );
    expect(edited.settings).toBe(input.settings);
    expect(sources['a.sol']).toEqual({ content: 'x' });
  });
});

describe('Yul reader', () => {
  test('treats every byte as code', () => {
    const contract = compiled(`6001${auxdata(OWN)}`, `6002${auxdata(OWN)}`);
    expect(auxdataReaderOf('Yul').read(contract)).toEqual({
      state: 'located',
      runtime: {},
      creation: {},
    });
  });
});

describe('toRecompiledCodes', () => {
  test("omits unlocated auxdata and references missing in a version's output", () => {
    const { runtime, creation } = toRecompiledCodes(compiled('6001', '6002'), {
      state: 'unlocated',
    });
    expect(runtime).toEqual({
      code: '6001',
      linkReferences: {},
      immutableReferences: {},
      auxdata: {},
    });
    expect(toCodeTemplate(creation)).toMatchObject({ libraries: [], immutables: [], auxdata: [] });
  });
});
