import { AbiParameters } from 'ox';
import { describe, expect, test } from 'vitest';
import { parseSignature } from '../../solidity/parse-signature.ts';
import {
  decodeCall,
  decodeEvent,
  DecodingBudget,
  guessDeclarations,
  type LogEntry,
} from './decode-values.ts';

const budget = (): DecodingBudget => new DecodingBudget(1_000_000);
const OWNER = '00000000219ab540356cbb839cbe05303d7705fa';
const word = (value: number | string): Buffer =>
  Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
/** Encoded by another implementation; types are separated by semicolons. */
const encode = (types: string, values: readonly unknown[]): Buffer => {
  const parameters = AbiParameters.from(types.split(';')) as unknown;
  return Buffer.from(
    AbiParameters.encode(parameters as AbiParameters.AbiParameters, values).slice(2),
    'hex',
  );
};
const parsed = (signature: string) => {
  const found = parseSignature(signature);
  if (found === undefined) throw new Error(`${signature} is no signature`);
  return found;
};
const valuesOf = (signature: string, data: Buffer) =>
  decodeCall(parsed(signature), data, budget())?.inputs.map(({ value }) => value);

describe('Call arguments', () => {
  test("are formatted like Blockscout's: hex without 0x, text unchanged", () => {
    const data = encode('address; uint64; int8; bool; bytes8; bytes; string', [
      ...[`0x${OWNER}`, 0xbc6159n, -1, true, '0x1234567812345678', '0x7b', 'Grüße'],
    ]);
    expect(valuesOf('f(address,uint64,int8,bool,bytes8,bytes,string)', data)).toEqual([
      ...[OWNER, 'bc6159', 'f'.repeat(64), 'true', '1234567812345678', '7b', 'Grüße'],
    ]);
    expect(valuesOf('f(uint256,bool)', Buffer.concat([word(0), word(0)]))).toEqual(['0', 'false']);
  });

  test('show tuples in parentheses and lists in brackets', () => {
    const signature = 'test((uint256,address,bytes),(uint8,bytes4[2]),string[])';
    const data = encode('(uint256,address,bytes); (uint8,bytes4[2]); string[]', [
      [123456789n, `0x${OWNER}`, '0x7b'],
      [123, ['0x0b0c0d0e', '0x65666768']],
      ['a', ''],
    ]);
    const tuple = (name: string, type: string, value: string) => ({
      ...{ name, type, components: [], value },
    });
    expect(decodeCall(parsed(signature), data, budget())).toEqual({
      name: 'test',
      inputs: [
        {
          ...tuple('arg0', '(uint256,address,bytes)', `(75bcd15,${OWNER},7b)`),
          components: [
            tuple('arg0_0', 'uint256', '75bcd15'),
            tuple('arg0_1', 'address', OWNER),
            tuple('arg0_2', 'bytes', '7b'),
          ],
        },
        {
          ...tuple('arg1', '(uint8,bytes4[2])', '(7b,[0b0c0d0e,65666768])'),
          components: [
            tuple('arg1_0', 'uint8', '7b'),
            tuple('arg1_1', 'bytes4[2]', '[0b0c0d0e,65666768]'),
          ],
        },
        tuple('arg2', 'string[]', '[a,]'),
      ],
    });
  });

  test('are absent if data is missing, left over or does not fit the types', () => {
    expect(valuesOf('f()', Buffer.alloc(0))).toEqual([]);
    expect(valuesOf('f()', word(0))).toBeUndefined();
    expect(valuesOf('f(uint256)', word(1).subarray(1))).toBeUndefined();
    expect(valuesOf('f(uint8)', word(256))).toBeUndefined();
    expect(valuesOf('f(bool)', word(2))).toBeUndefined();
    expect(valuesOf('f(uint256[])', Buffer.concat([word(32), word(2 ** 40)]))).toBeUndefined();
    expect(valuesOf('f(()[])', Buffer.concat([word(32), word(2 ** 40)]))).toBeUndefined();
    expect(valuesOf('f(uint8[999999999][999999999])', word(0))).toBeUndefined();
  });

  test("are decoded within the request's budget", () => {
    const small = new DecodingBudget(1_000);
    expect(decodeCall(parsed('f(uint256)'), word(1), small)).toBeDefined();
    expect(() => {
      for (let attempt = 0; attempt < 10; attempt += 1) {
        decodeCall(parsed('f(uint256)'), word(1), small);
      }
    }).toThrow(expect.objectContaining({ code: 'request_too_complex' }) as Error);
  });
});

describe('Event arguments', () => {
  const TOPIC = word(7);
  const moved = parsed('Moved(address,address,uint256)');
  const log = (topics: readonly Buffer[], data: Buffer) => ({ topics: [TOPIC, ...topics], data });

  test('have the declared names, in parameter order', () => {
    const declared = [
      { name: 'from', indexed: true },
      { name: 'value', indexed: false },
      { name: '', indexed: true },
    ];
    const entry = log([word(OWNER), word(9)], word(OWNER));
    expect(decodeEvent(moved, declared, entry, budget())).toEqual({
      name: 'Moved',
      inputs: [
        { name: 'from', type: 'address', components: [], value: OWNER, indexed: true },
        { name: 'value', type: 'address', components: [], value: OWNER, indexed: false },
        { name: 'arg2', type: 'uint256', components: [], value: '9', indexed: true },
      ],
    });
    expect(decodeEvent(moved, declared, log([], word(1)), budget())).toBeUndefined();
    expect(
      decodeEvent(moved, declared, log([word('f'.repeat(64)), word(9)], word(1)), budget()),
    ).toBeUndefined();
  });

  test('of dynamic types appear as their hash if indexed', () => {
    const entry = log([word('ab'.repeat(32)), word('cd'.repeat(32))], Buffer.alloc(0));
    const declared = [{ indexed: true }, { indexed: true }];
    const found = decodeEvent(parsed('E(string,uint8[])'), declared, entry, budget());
    expect(found?.inputs.map(({ value }) => value)).toEqual(['ab'.repeat(32), 'cd'.repeat(32)]);
  });

  /** The first guess that matches. */
  const guess = (signature: string, entry: LogEntry) => {
    for (const declared of guessDeclarations(parsed(signature), entry)) {
      const found = decodeEvent(parsed(signature), declared, entry, budget());
      if (found !== undefined) return found;
    }
    return undefined;
  };

  test('without a declaration use the first guess that fits', () => {
    const signature = 'Moved(address,address,uint256)';
    const found = guess(signature, log([word(OWNER), word('f'.repeat(64))], word(OWNER)));
    expect(found?.inputs.map(({ indexed }) => indexed)).toEqual([true, false, true]);
    expect(guess(signature, log([], word(1)))).toBeUndefined();
    expect(guess('E()', log([word(1)], word(1)))).toBeUndefined();
    expect(guess('E()', log([], Buffer.alloc(0)))).toEqual({ name: 'E', inputs: [] });
  });

  test('are guessed with a bounded number of attempts', () => {
    const many = parsed(`E(${Array.from({ length: 100 }, () => 'bool').join(',')})`);
    const entry = log([word(2), word(2), word(2)], Buffer.alloc(0));
    expect([...guessDeclarations(many, entry)]).toHaveLength(200);
  });
});
