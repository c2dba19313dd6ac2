import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileSuite, withChangedMetadata } from '../../test/support/bytecode/compiled-suite.ts';
import { AUXDATA_FORMS } from '../../test/support/bytecode/made-up-code.ts';
import { simulateDeployment } from '../../test/support/bytecode/simulated-deployment.ts';
import { SOLC_VERSIONS } from '../../test/support/compile-in-child.ts';
import { bytesToHex } from '../lib/hex.ts';
import { maskCode } from './masked-code.ts';
import { toCodeTemplate } from './recompiled-code.ts';

const keyOf = (code: Uint8Array): string => bytesToHex(maskCode(code).maskedHash);

describe.each(SOLC_VERSIONS)('Masked bytecode of solc %s', (version) => {
  test('is equal for compiled and deployed bytecode under all settings', async () => {
    const samples = (await compileSuite(version)).filter(
      ({ recompiled }) => recompiled.runtime.code.length > 0,
    );
    expect(samples.length).toBeGreaterThan(5);
    for (const sample of samples) {
      const compiled = toCodeTemplate(sample.recompiled.runtime).bytes;
      const ours = maskCode(compiled);
      const theirs = maskCode(simulateDeployment(sample).runtime);
      const marks = new Set(theirs.constants);
      expect(bytesToHex(theirs.maskedHash), sample.id).toBe(bytesToHex(ours.maskedHash));
      expect(
        ours.constants.every((mark) => marks.has(mark)),
        sample.id,
      ).toBe(true);
      const others = toCodeTemplate(withChangedMetadata(sample).recompiled.runtime).bytes;
      // Without CBOR the bytecode contains no hash.
      expect(bytesToHex(maskCode(others).plainHash), sample.id).toBe(bytesToHex(ours.plainHash));
    }
  });

  test('distinguishes the contracts of the suite', async () => {
    const optimized = (await compileSuite(version)).filter(
      ({ variant, recompiled }) => variant === 'optimized' && recompiled.runtime.code.length > 0,
    );
    const keys = optimized.map(({ recompiled }) => keyOf(toCodeTemplate(recompiled.runtime).bytes));
    expect(new Set(keys).size).toBe(keys.length);
  });
});

type Piece = { readonly compiled: string; readonly onChain: string };
const digits = (length: number): fc.Arbitrary<string> =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes) => Buffer.from(bytes).toString('hex'));
const zeros = (length: number): string => '00'.repeat(length);
/** Opcodes without operand, and pushes that are shorter than any value. */
const instruction: fc.Arbitrary<Piece> = fc
  .oneof(
    fc.constantFrom('5b', '01', '80', '90', '50', 'f3', 'fe', '00', '5f', '33'),
    fc
      .integer({ min: 1, max: 31 })
      .filter((length) => length !== 20)
      .chain((length) => digits(length).map((hex) => (0x5f + length).toString(16) + hex)),
  )
  .map((hex) => ({ compiled: hex, onChain: hex }));
const constant = fc
  .tuple(fc.constantFrom(20, 32), fc.boolean())
  .chain(([length]) => digits(length).map((hex) => (0x5f + length).toString(16) + hex))
  .map((hex): Piece => ({ compiled: hex, onChain: hex }));
const value = fc.constantFrom(20, 32).chain((length) =>
  digits(length).map((hex): Piece => {
    const push = (0x5f + length).toString(16);
    return { compiled: push + zeros(length), onChain: push + hex };
  }),
);
const auxdata = fc
  .tuple(fc.constantFrom(...Object.keys(AUXDATA_FORMS)), digits(32), digits(32))
  .map(([form, ours, theirs]): Piece => {
    const write = AUXDATA_FORMS[form]!;
    return { compiled: write(ours), onChain: write(theirs) };
  });
const pieces = fc.array(fc.oneof(instruction, constant, value, auxdata), { maxLength: 40 });
const join = (all: readonly Piece[], which: keyof Piece): Buffer =>
  Buffer.from(all.map((piece) => piece[which]).join(''), 'hex');

describe('Masked bytecode', () => {
  test('is unaffected by values, addresses and metadata hashes', () => {
    fc.assert(
      fc.property(pieces, (all) => {
        const [compiled, onChain] = [join(all, 'compiled'), join(all, 'onChain')];
        const [ours, theirs] = [maskCode(compiled), maskCode(onChain)];
        expect(bytesToHex(theirs.maskedHash)).toBe(bytesToHex(ours.maskedHash));
        expect(bytesToHex(theirs.prefixHash)).toBe(bytesToHex(ours.prefixHash));
        expect(theirs.length).toBe(ours.length);
        const marks = new Set(theirs.constants);
        expect(ours.constants.every((mark) => marks.has(mark))).toBe(true);
      }),
    );
  });

  test('changes with every byte not explained by a value', () => {
    fc.assert(
      fc.property(
        fc.array(instruction, { minLength: 1, maxLength: 40 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (all, at, change) => {
          const code = join(all, 'compiled');
          const other = Buffer.from(code);
          other[at % code.length] = (code[at % code.length] ?? 0) ^ change;
          // A byte that becomes a PUSH20 or PUSH32 masks what follows it.
          fc.pre(!other.includes(0x73) && !other.includes(0x7f));
          expect(keyOf(other)).not.toBe(keyOf(code));
        },
      ),
    );
  });

  test('includes constants, so bytecode with another constant differs', () => {
    const code = (hex: string): Buffer => Buffer.from(`5b73${hex}5b7f${zeros(32)}`, 'hex');
    const [ours, theirs] = [maskCode(code('11'.repeat(20))), maskCode(code('12'.repeat(20)))];
    expect(keyOf(code('11'.repeat(20)))).toBe(keyOf(code('12'.repeat(20))));
    expect(ours.constants).toHaveLength(1);
    expect(theirs.constants).not.toEqual(ours.constants);
  });

  test('has a metadata key of all hashes in order, and none without hashes', () => {
    const write = AUXDATA_FORMS['0.6.0']!;
    const [one, two] = [write('11'.repeat(32)), write('22'.repeat(32))];
    const key = (hex: string) => maskCode(Buffer.from(hex, 'hex')).metadataKey;
    expect(key(one + two)).not.toEqual(key(two + one));
    expect(key(`5b${one}5b${two}`)).toEqual(key(one + two));
    expect(key('5b5b')).toBeUndefined();
  });

  test('handles bytecode truncated within a value or metadata hash', () => {
    expect(keyOf(Buffer.from('7f11', 'hex'))).toBe(keyOf(Buffer.from('7f00', 'hex')));
    expect(maskCode(Buffer.from('64697066735822122011', 'hex')).metadataKey).toBeUndefined();
    expect(maskCode(Buffer.alloc(0)).length).toBe(0);
  });
});
