import fc from 'fast-check';
import { AbiParameters } from 'ox';
import { describe, expect, test, vi } from 'vitest';
import {
  type AbiParameter,
  decodeStrictly,
  isStrictEncoding,
  isStrictPrefix,
  type StrictValue,
} from './strict-encoding.ts';

const word = (value: bigint | number): string => BigInt(value).toString(16).padStart(64, '0');
const bytes = (...words: readonly string[]): Buffer => Buffer.from(words.join(''), 'hex');
const types = (...names: readonly string[]): AbiParameter[] => names.map((type) => ({ type }));

const elementary = fc.constantFrom(
  ['uint8', fc.bigInt({ min: 0n, max: 255n })],
  ['uint256', fc.bigInt({ min: 0n, max: (1n << 256n) - 1n })],
  ['int16', fc.integer({ min: -32768, max: 32767 }).map(BigInt)],
  ['int256', fc.bigInt({ min: -(1n << 255n), max: (1n << 255n) - 1n })],
  ['address', fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex)],
  ['bool', fc.boolean()],
  ['bytes4', fc.uint8Array({ minLength: 4, maxLength: 4 }).map(toHex)],
  ['bytes32', fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)],
  ['bytes', fc.uint8Array({ maxLength: 70 }).map(toHex)],
  ['string', fc.string({ maxLength: 40 })],
) as fc.Arbitrary<[string, fc.Arbitrary<unknown>]>;

function toHex(value: Uint8Array): string {
  return `0x${Buffer.from(value).toString('hex')}`;
}

type Typed = readonly [AbiParameter, fc.Arbitrary<unknown>];

const typed: fc.Arbitrary<Typed> = fc.letrec<{ type: Typed }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3 },
    elementary.map(([type, value]): Typed => [{ type }, value]),
    tie('type').map(([element, value]): Typed => [
      { ...element, type: `${element.type}[]` },
      fc.array(value, { maxLength: 3 }),
    ]),
    fc
      .tuple(tie('type'), fc.integer({ min: 1, max: 3 }))
      .map(([[element, value], length]): Typed => [
        { ...element, type: `${element.type}[${length}]` },
        fc.array(value, { minLength: length, maxLength: length }),
      ]),
    fc
      .array(tie('type'), { minLength: 1, maxLength: 3 })
      .map((members): Typed => [
        { type: 'tuple', components: members.map(([type]) => type) },
        fc.tuple(...members.map(([, value]) => value)),
      ]),
  ),
})).type;

const encoded = fc
  .array(typed, { minLength: 1, maxLength: 4 })
  .chain((members) =>
    fc
      .tuple(...members.map(([, value]) => value))
      .map((values) => ({ parameters: members.map(([type]) => type), values })),
  )
  .map(({ parameters, values }) => ({
    parameters,
    values,
    data: Buffer.from(
      AbiParameters.encode(parameters as AbiParameters.AbiParameters, values).slice(2),
      'hex',
    ),
  }));

/** Converts a value from another implementation to the bytes of its words. */
function toStrict(parameter: AbiParameter, value: unknown): StrictValue {
  const { type, components = [] } = parameter;
  if (type.endsWith(']')) {
    const element = { ...parameter, type: type.slice(0, type.lastIndexOf('[')) };
    return (value as readonly unknown[]).map((each) => toStrict(element, each));
  }
  if (type === 'tuple') {
    return components.map((each, index) => toStrict(each, (value as readonly unknown[])[index]));
  }
  if (type === 'string') return Buffer.from(value as string);
  if (type === 'bytes') return Buffer.from((value as string).slice(2), 'hex');
  const parameters = [{ type }] as AbiParameters.AbiParameters;
  return Buffer.from(AbiParameters.encode(parameters, [value]).slice(2), 'hex');
}

describe('decodeStrictly', () => {
  test('decodes values encoded by another implementation, for any types', () => {
    fc.assert(
      fc.property(encoded, ({ parameters, values, data }) => {
        expect(decodeStrictly(parameters, data)).toEqual(
          parameters.map((each, index) => toStrict(each, values[index])),
        );
        expect(decodeStrictly(parameters, data.subarray(1))).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });
});

describe('isStrictEncoding', () => {
  test('accepts encodings of another implementation, for any types and values', () => {
    fc.assert(
      fc.property(encoded, ({ parameters, data }) => isStrictEncoding(parameters, data)),
      { numRuns: 300 },
    );
  });

  test('rejects an extra byte or word, or a missing byte', () => {
    fc.assert(
      fc.property(encoded, fc.integer({ min: 0, max: 255 }), ({ parameters, data }, byte) => {
        expect(isStrictEncoding(parameters, Buffer.concat([data, Buffer.from([byte])]))).toBe(
          false,
        );
        expect(isStrictEncoding(parameters, Buffer.concat([data, Buffer.alloc(32, byte)]))).toBe(
          false,
        );
        expect(isStrictEncoding(parameters, data.subarray(0, -1))).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  test('accepts changed bytes only if they re-encode identically', () => {
    fc.assert(
      fc.property(encoded, fc.nat(), fc.integer({ min: 1, max: 255 }), (sample, at, change) => {
        const { parameters } = sample;
        const data = Buffer.from(sample.data);
        data[at % data.length] = (data[at % data.length] ?? 0) ^ change;
        if (!isStrictEncoding(parameters, data)) return;
        const abi = parameters.map(withoutText) as AbiParameters.AbiParameters;
        const values = AbiParameters.decode(abi, `0x${data.toString('hex')}`);
        expect(AbiParameters.encode(abi, values)).toBe(`0x${data.toString('hex')}`);
      }),
      { numRuns: 300 },
    );
  });

  test('accepts only empty data for no parameters', () => {
    expect(isStrictEncoding([], Buffer.alloc(0))).toBe(true);
    expect(isStrictEncoding([], Buffer.alloc(1))).toBe(false);
  });

  test.each([
    ['an address with bytes before it', ['address'], [word((1n << 160n) + 1n)]],
    ['a boolean of two', ['bool'], [word(2)]],
    ['an uint8 of 256', ['uint8'], [word(256)]],
    ['an int8 of 128 without its sign', ['int8'], [word(128)]],
    ['a bytes4 with a fifth byte', ['bytes4'], ['aabbccdd01'.padEnd(64, '0')]],
    ['padding that is not zero', ['bytes'], [word(32), word(1), 'ab'.padEnd(63, '0') + '1']],
    ['a gap before the tail', ['bytes'], [word(64), word(0), word(0)]],
    ['two values in one tail', ['bytes', 'bytes'], [word(64), word(64), word(0)]],
    ['tails in the other order', ['bytes', 'bytes'], [word(96), word(64), word(0), word(0)]],
    ['an offset beyond the data', ['bytes'], [word(1n << 255n)]],
    ['a length beyond the data', ['bytes'], [word(32), word((1n << 256n) - 1n)]],
    ['a list longer than the data', ['uint256[]'], [word(32), word(1n << 40n), word(1)]],
    ['a type that is none', ['uint7'], [word(1)]],
  ])('rejects %s', (_why, names, words) => {
    expect(isStrictEncoding(types(...names), bytes(...words))).toBe(false);
  });

  test.each([
    ['int8 of -128', ['int8'], [word((1n << 256n) - 128n)]],
    ['a function: address and selector', ['function'], ['ab'.repeat(24).padEnd(64, '0')]],
    ['fixed-point numbers', ['fixed128x18', 'ufixed8x1'], [word((1n << 256n) - 1n), word(255)]],
    ['text that is not UTF-8', ['string'], [word(32), word(1), 'ff'.padEnd(64, '0')]],
    ['an empty list of lists', ['uint256[][]'], [word(32), word(0)]],
    ['a list of fixed lists', ['uint8[2][]'], [word(32), word(1), word(1), word(2)]],
  ])('accepts %s', (_what, names, words) => {
    expect(isStrictEncoding(types(...names), bytes(...words))).toBe(true);
  });

  test('does not follow lists that share a tail, or zero-size values', () => {
    const depth = 200;
    const shared = Array.from({ length: depth }, () => [word(2), word(64), word(64)]).flat();
    const slices = vi.spyOn(Buffer.prototype, 'subarray');
    expect(
      isStrictEncoding(types(`uint256${'[]'.repeat(depth)}`), bytes(word(32), ...shared)),
    ).toBe(false);
    expect(isStrictEncoding(types('uint256[0][1000000000]'), Buffer.alloc(32))).toBe(false);
    expect(
      isStrictEncoding([{ type: 'tuple[]', components: [] }], bytes(word(32), word(1n << 40n))),
    ).toBe(false);
    // Each value costs a few slices: only one path through the shared list is followed, with one value per
    // level.
    const taken = slices.mock.calls.length;
    slices.mockRestore();
    expect(taken).toBeLessThan(10 * depth);
  });
});

describe('isStrictPrefix', () => {
  test('accepts every prefix of a strict encoding, and nothing after its end', () => {
    fc.assert(
      fc.property(encoded, fc.nat(), ({ parameters, data }, length) => {
        const words = length % (data.length / 32 + 1);
        expect(isStrictPrefix(parameters, data.subarray(0, 32 * words))).toBe(true);
        expect(isStrictPrefix(parameters, Buffer.concat([data, Buffer.from([0])]))).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['an address with bytes before it', ['address', 'uint256'], [word((1n << 160n) + 1n)]],
    ['a boolean of two', ['bool', 'string'], [word(2)]],
    ['a gap before the tail', ['bytes', 'uint256'], [word(96)]],
    ['arguments of no parameter', [], [word(0)]],
  ])('rejects %s', (_why, names, words) => {
    expect(isStrictPrefix(types(...names), bytes(...words))).toBe(false);
  });

  test('does not count values beyond the data', () => {
    expect(isStrictPrefix(types('uint256[1000000000000]'), bytes(word(1)))).toBe(true);
    expect(isStrictPrefix(types('uint256[][]'), bytes(word(32), word(1n << 40n)))).toBe(true);
  });
});

/** Replaces `string` with `bytes` in a type: decoders replace invalid UTF-8, which this test is not about. */
function withoutText({ type, components }: AbiParameter): AbiParameter & { readonly name: string } {
  return {
    name: '',
    type: type.replace(/^string/, 'bytes'),
    ...(components && { components: components.map(withoutText) }),
  };
}
