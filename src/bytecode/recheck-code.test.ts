import { describe, expect, test } from 'vitest';
import { type ImportedBytecode, validateImportedBytecode } from './recheck-code.ts';

const ADDRESS = `0x${'ab'.repeat(20)}`;
const WORD = `0x${'00'.repeat(31)}2a`;
/** Forty bytes, 32 of which belong to an immutable. */
const RECOMPILED = Buffer.concat([Buffer.from('60016002', 'hex'), Buffer.alloc(36)]);
const ON_CHAIN = Buffer.concat([
  RECOMPILED.subarray(0, 4),
  Buffer.from(WORD.slice(2), 'hex'),
  RECOMPILED.subarray(36),
]);
const PLACED = { type: 'replace', reason: 'immutable', offset: 4, id: '7' };
const SOUND: ImportedBytecode = {
  ...{ side: 'runtime', address: ADDRESS, recompiled: RECOMPILED, onChain: ON_CHAIN },
  transformations: [PLACED],
  values: { immutables: { 7: WORD } },
  artifacts: { immutableReferences: { 7: [{ start: 4, length: 32 }] } },
  isFull: true,
};

describe('Delivered bytecode', () => {
  test('is accepted if every difference is at a position reported by the compiler', () => {
    expect(validateImportedBytecode(SOUND)).toBeUndefined();
    const onChain = Buffer.concat([RECOMPILED, Buffer.from('beef', 'hex')]);
    const transformations = [{ type: 'insert', reason: 'constructorArguments', offset: 40 }];
    const values = { constructorArguments: '0xbeef' };
    const creation = { ...SOUND, onChain, transformations, values, side: 'creation' } as const;
    expect(validateImportedBytecode(creation)).toBeUndefined();
    expect(validateImportedBytecode({ ...creation, side: 'runtime' })).toBe(
      'unexplained_difference',
    );
  });

  test.each<[string, Partial<ImportedBytecode>]>([
    ['without its transformation', { transformations: [] }],
    ['with transformations that are none', { transformations: { a: 1 } }],
    ['with a member of a transformation that has none', { transformations: [{ ...PLACED, x: 1 }] }],
    ['with an offset that is no number', { transformations: [{ ...PLACED, offset: '4' }] }],
    [
      'with a later transformation outside',
      { transformations: [PLACED, { ...PLACED, offset: 9e9 }] },
    ],
    ['with values that are none', { values: [] }],
    ['whose code on chain is another', { onChain: RECOMPILED }],
  ])('is rejected %s', (_what, change) => {
    expect(validateImportedBytecode({ ...SOUND, ...change })).toBe('codes_differ');
  });

  test.each<[string, Partial<ImportedBytecode>]>([
    ['the compiler named none', { artifacts: null }],
    [
      'the row itself says that all of its code may differ',
      {
        transformations: [{ ...PLACED, offset: 0 }],
        values: { immutables: { 7: `0x${'33'.repeat(40)}` } },
        onChain: Buffer.alloc(40, 0x33),
        artifacts: { immutableReferences: { 7: [{ start: 0, length: 40 }] } },
      },
    ],
    [
      'the compiler named another',
      { artifacts: { immutableReferences: { 7: [{ start: 3, length: 32 }] } } },
    ],
    [
      'of another length',
      { artifacts: { immutableReferences: { 7: [{ start: 4, length: 31 }] } } },
    ],
    [
      'of another immutable',
      { artifacts: { immutableReferences: { 8: [{ start: 4, length: 32 }] } } },
    ],
    [
      'of a library',
      { artifacts: { linkReferences: { 'a.sol': { L: [{ start: 4, length: 32 }] } } } },
    ],
    ['of a creation', { side: 'creation' }],
  ])('is not explained by a position %s', (_what, change) => {
    expect(validateImportedBytecode({ ...SOUND, ...change })).toBe('unexplained_difference');
  });

  test("contains a library's own address and no other", () => {
    const recompiled = Buffer.concat([
      Buffer.from('73', 'hex'),
      Buffer.alloc(20),
      Buffer.from('3014', 'hex'),
    ]);
    const onChain = Buffer.concat([Buffer.from(`73${ADDRESS.slice(2)}3014`, 'hex')]);
    const transformations = [{ type: 'replace', reason: 'callProtection', offset: 1 }];
    const library = {
      ...SOUND,
      recompiled,
      onChain,
      transformations,
      values: { callProtection: ADDRESS },
    };
    expect(validateImportedBytecode(library)).toBeUndefined();
    const elsewhere = { ...library, address: `0x${'cd'.repeat(20)}` };
    expect(validateImportedBytecode(elsewhere)).toBe('unexplained_difference');
  });

  test('is not full with a replaced metadata hash, nor explained without auxdata', () => {
    const auxdata = (byte: string): Buffer =>
      Buffer.from(`a2646970667358221220${byte.repeat(32)}64736f6c63430008250033`, 'hex');
    const recompiled = Buffer.concat([Buffer.from('6001', 'hex'), auxdata('aa')]);
    const onChain = Buffer.concat([Buffer.from('6001', 'hex'), auxdata('bb')]);
    const values = { cborAuxdata: { 1: `0x${auxdata('bb').toString('hex')}` } };
    const transformations = [{ type: 'replace', reason: 'cborAuxdata', offset: 2, id: '1' }];
    const replaced = { ...SOUND, recompiled, onChain, values, transformations };
    expect(validateImportedBytecode(replaced)).toBe('metadata_replaced');
    expect(validateImportedBytecode({ ...replaced, isFull: false })).toBeUndefined();
    const early = {
      ...replaced,
      isFull: false,
      values: { cborAuxdata: { 1: `0x${onChain.toString('hex')}` } },
      transformations: [{ ...transformations[0], offset: 0 }],
    };
    expect(validateImportedBytecode(early)).toBe('unexplained_difference');
  });
});
