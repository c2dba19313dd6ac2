import fc from 'fast-check';
import { AbiParameters } from 'ox';
import { describe, expect, test } from 'vitest';
import { hexToBytes } from '../lib/hex.ts';
import { describeValues } from './describe-values.ts';

type AbiInputs = readonly { name?: string; type: string; components?: AbiInputs }[];
const encode = (parameters: AbiInputs, values: readonly unknown[]): Buffer =>
  hexToBytes(AbiParameters.encode(parameters as never, values as never));

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

describe('Decoded values', () => {
  test.each<[type: string, value: unknown, text: string]>([
    ['address', ADDRESS, ADDRESS],
    ['bool', true, 'true'],
    ['bool', false, 'false'],
    ['uint256', 2n ** 256n - 1n, String(2n ** 256n - 1n)],
    ['uint8', 7, '7'],
    ['int24', -887_272, '-887272'],
    ['int256', -1n, '-1'],
    ['bytes4', '0xa9059cbb', '0xa9059cbb'],
    ['bytes', '0x00ff', '0x00ff'],
    ['string', 'Ünïcode "quoted" 漢', 'Ünïcode "quoted" 漢'],
    ['string', '', ''],
  ])('are formatted for readers: %s %s', (type, value, text) => {
    const parameters = [{ name: 'it', type }];
    expect(describeValues(parameters, encode(parameters, [value]))).toEqual([
      { name: 'it', type, value: text },
    ]);
  });

  test('show tuple members by name and list items by index', () => {
    const parameters = [
      {
        name: 'key',
        type: 'tuple[]',
        components: [
          { name: 'owner', type: 'address' },
          { name: 'fees', type: 'uint24[2]' },
        ],
      },
      { type: 'string' },
    ];
    const data = encode(parameters, [[{ owner: ADDRESS, fees: [1, 2] }], 'x']);
    expect(describeValues(parameters, data)).toEqual([
      {
        ...{ name: 'key', type: 'tuple[]' },
        members: [
          {
            ...{ name: '0', type: 'tuple' },
            members: [
              { name: 'owner', type: 'address', value: ADDRESS },
              {
                ...{ name: 'fees', type: 'uint24[2]' },
                members: [
                  { name: '0', type: 'uint24', value: '1' },
                  { name: '1', type: 'uint24', value: '2' },
                ],
              },
            ],
          },
        ],
      },
      { name: '', type: 'string', value: 'x' },
    ]);
  });

  test('show a string as bytes if it is not UTF-8', () => {
    const data = encode([{ type: 'bytes' }], ['0xfffe']);
    expect(describeValues([{ type: 'string' }], data)).toMatchObject([{ value: '0xfffe' }]);
  });

  test.each([
    ['data that goes on', [{ type: 'uint8' }], '00'.repeat(64)],
    ['data that is cut', [{ type: 'uint8' }], '00'.repeat(31)],
    ['a number beyond its type', [{ type: 'uint8' }], 'ff'.repeat(32)],
    ['parameters that are none', 'uint8', ''],
    ['a parameter without a type', [{ name: 'x' }], ''],
    ['a type that is none', [{ type: 'uint7' }], '00'.repeat(32)],
    ['a tuple without components', [{ type: 'tuple' }], ''],
    ['a type of very many brackets', [{ type: `uint8${'[1]'.repeat(10_000)}` }], '00'.repeat(32)],
  ])('are absent for %s', (_, parameters, data) => {
    expect(describeValues(parameters, Buffer.from(data, 'hex'))).toBeUndefined();
  });

  test('are absent for overly nested tuples', () => {
    let parameter: object = { type: 'uint8' };
    for (let depth = 0; depth < 1_000; depth += 1) {
      parameter = { type: 'tuple', components: [parameter] };
    }
    expect(describeValues([parameter], Buffer.alloc(32))).toBeUndefined();
  });

  test('are limited to 500, including nested lists', () => {
    const described = (type: string, values: unknown): unknown =>
      describeValues([{ type }], encode([{ type }], [values]));
    expect(described('uint8[]', Array(499).fill(1))).toBeDefined();
    expect(described('uint8[]', Array(500).fill(1))).toBeUndefined();
    expect(described('uint8[][]', Array(100).fill([1, 2, 3, 4]))).toBeUndefined();
  });

  test('equal the encoded values', () => {
    fc.assert(
      fc.property(
        fc.bigInt(-(2n ** 127n), 2n ** 127n - 1n),
        fc.string({ unit: 'grapheme' }),
        (number, text) => {
          const parameters = [{ type: 'int128' }, { type: 'string' }];
          const [first, second] =
            describeValues(parameters, encode(parameters, [number, text])) ?? [];
          expect(BigInt(first?.value ?? '')).toBe(number);
          expect(second?.value).toBe(text);
        },
      ),
    );
  });
});
