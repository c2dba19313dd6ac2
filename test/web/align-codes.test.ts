import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { alignCodes, type AlignedSection } from '../../web/src/contract/align-codes.ts';

const CODE_BYTES = 24_576;
/**
 * For each window length, each byte and its window are stored and looked up in both bytecodes, with a few
 * dozen accesses each time.
 */
const READS_OF_A_BYTE = 1_200;

/** Bytecode without repetition, practically random. */
function codeOf(length: number, seed = 1): number[] {
  let state = seed;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state >>> 24;
  });
}
const told = (left: readonly number[], right: readonly number[]): string[] =>
  alignCodes(left, right).map(
    ({ sort, recompiledAt, onChainAt, length }) => `${sort} ${recompiledAt} ${onChainAt} ${length}`,
  );
const sum = (stretches: readonly AlignedSection[], sort: AlignedSection['sort']): number =>
  stretches.reduce((total, each) => total + (each.sort === sort ? each.length : 0), 0);

/** Bytecode with few distinct bytes, and bytecode derived from another by cutting, repeating and moving stretches. */
const repetitive = fc.array(fc.nat(2), { maxLength: 200 });
const edits = fc.array(
  fc.record({
    at: fc.nat(400),
    removed: fc.nat(60),
    added: fc.array(fc.nat(255), { maxLength: 60 }),
  }),
  { maxLength: 4 },
);
const edited = fc.tuple(fc.nat(), edits).map(([seed, each]) => {
  const left = codeOf(400, seed);
  const right = [...left];
  for (const { at, removed, added } of each) right.splice(at, removed, ...added);
  return [left, right] as const;
});
const pairs = fc.oneof(edited, fc.tuple(repetitive, repetitive));

describe('aligning two bytecodes', () => {
  const code = codeOf(1000);
  const [head, tail] = [code.slice(0, 400), code.slice(400)];

  test('marks only inserted bytes, wherever they are', () => {
    expect(told(code, [...head, 1, 2, 3, ...tail])).toEqual([
      'equal 0 0 400',
      'inserted 400 400 3',
      'equal 400 403 600',
    ]);
    expect(told([...head, 1, 2, 3, ...tail], code)[1]).toBe('missing 400 400 3');
    expect(told(code, [...code, 1, 2])).toEqual(['equal 0 0 1000', 'inserted 1000 1000 2']);
  });

  test('marks a moved stretch between bytecodes of equal length', () => {
    const moved = [...code.slice(0, 100), ...code.slice(150, 900), ...code.slice(100, 150)];
    expect(told(code, [...moved, ...code.slice(900)])).toEqual([
      'equal 0 0 100',
      'missing 100 100 50',
      'equal 150 100 750',
      'inserted 900 850 50',
      'equal 900 900 100',
    ]);
  });

  test('marks changed jump targets behind an inserted byte in their places', () => {
    const jumps = [450, 500, 512, 530, 700];
    const right = code.map((byte, at) => (jumps.includes(at) ? byte ^ 1 : byte));
    right.splice(400, 0, 0x5b);
    const changed = alignCodes(code, right).filter(({ sort }) => sort === 'changed');
    expect(changed.map(({ recompiledAt }) => recompiledAt)).toEqual(jumps);
    expect(sum(alignCodes(code, right), 'inserted')).toBe(1);
  });

  test('treats trailing data as inserted even if both bytecodes end alike', () => {
    const left = [...code, 0];
    const right = [...code, 0, ...codeOf(30, 7), 0, 0];
    right[500] = (right[500] ?? 0) ^ 1;
    expect(told(left, right).slice(-2)).toEqual(['equal 501 501 500', 'inserted 1001 1001 32']);
  });

  test('puts each byte into exactly one stretch, and equal bytes into equal stretches', () => {
    fc.assert(
      fc.property(pairs, ([left, right]) => {
        let [leftAt, rightAt] = [0, 0];
        for (const { sort, recompiledAt, onChainAt, length } of alignCodes(left, right)) {
          expect([recompiledAt, onChainAt]).toEqual([leftAt, rightAt]);
          expect(length).toBeGreaterThan(0);
          if (sort !== 'inserted') leftAt += length;
          if (sort !== 'missing') rightAt += length;
          if (sort !== 'equal' && sort !== 'changed') continue;
          for (let at = 0; at < length; at += 1) {
            const isEqual = left[recompiledAt + at] === right[onChainAt + at];
            expect(isEqual).toBe(sort === 'equal');
          }
        }
        expect([leftAt, rightAt]).toEqual([left.length, right.length]);
      }),
    );
  });

  test('yields differences that turn one bytecode into the other', () => {
    fc.assert(
      fc.property(pairs, ([left, right]) => {
        const made = alignCodes(left, right).flatMap(
          ({ sort, recompiledAt, onChainAt, length }) => {
            if (sort === 'equal') return left.slice(recompiledAt, recompiledAt + length);
            return sort === 'missing' ? [] : right.slice(onChainAt, onChainAt + length);
          },
        );
        expect(made).toEqual([...right]);
      }),
    );
  });

  test('never marks more bytes than a positional comparison of equal-length bytecodes', () => {
    fc.assert(
      fc.property(pairs, ([left, other]) => {
        const right = left.map((byte, at) => other[at] ?? byte);
        const stretches = alignCodes(left, right);
        const inPlace = left.filter((byte, at) => byte !== right[at]).length;
        expect(sum(stretches, 'inserted')).toBe(sum(stretches, 'missing'));
        expect(sum(stretches, 'changed') + sum(stretches, 'inserted')).toBeLessThanOrEqual(inPlace);
      }),
    );
  });

  const zeros = Array.from({ length: CODE_BYTES }, () => 0);
  const counting = zeros.map((_, at) => at >> (at & 7));
  const random = codeOf(CODE_BYTES);
  test.each([
    ['equal', random, random],
    ['one repeated byte', zeros, [1, ...zeros, 1]],
    ['two alternating bytes', zeros.map((_, at) => at & 1), zeros.map((_, at) => (at + 1) & 1)],
    [
      'short patterns of different lengths',
      zeros.map((_, at) => at % 33),
      zeros.map((_, at) => at % 31),
    ],
    ['nothing in common', random, codeOf(CODE_BYTES + 1, 3)],
    ['one reversed', random, random.toReversed()],
    [
      'stretches in reverse order',
      random,
      zeros.map((_, at) => random[(at ^ 0x1f_e0) % CODE_BYTES]!),
    ],
    ['every eighth byte changed', counting, counting.map((byte, at) => (at & 7 ? byte : 256))],
    [
      'a byte inserted after every ninth',
      random,
      random.flatMap((byte, at) => (at % 9 ? byte : [byte, 256])),
    ],
  ])('reads the bytes a bounded number of times: %s', (_, left, right) => {
    let reads = 0;
    const watched = (bytes: readonly number[]): readonly number[] =>
      new Proxy(bytes, {
        get: (target, key): unknown => {
          reads += 1;
          return Reflect.get(target, key);
        },
      });
    alignCodes(watched(left), watched(right));
    expect(reads).toBeLessThan(12 * (left.length + right.length));
  });
});

describe('bytecodes crafted to make alignment slow', () => {
  afterEach(() => vi.unstubAllGlobals());
  const HOSTILE_BYTES = 2_500;
  const HASH_BASE = 0x01_00_01_93;

  /** Bytecode whose windows of this size all hash into the first eighth of the table. */
  function crowdedCode(size: number, seed: number): number[] {
    const mask = 2 ** Math.ceil(Math.log2(2 * (HOSTILE_BYTES - size + 1) + 2)) - 1;
    const isCrowded = (hash: number): boolean => ((hash ^ (hash >>> 15)) & mask) <= mask / 8;
    let leaving = 1;
    for (let step = 0; step < size; step += 1) leaving = Math.imul(leaving, HASH_BASE);
    const code = codeOf(size, seed);
    let hash = 0;
    for (const byte of code) hash = (Math.imul(hash, HASH_BASE) + byte) | 0;
    const follow = (before: number, byte: number, left: number): number =>
      (Math.imul(before, HASH_BASE) + byte - Math.imul(leaving, left)) | 0;
    const choices = codeOf(256, seed).map((_, byte) => (byte + seed) & 255);
    while (code.length < HOSTILE_BYTES) {
      const [left = 0, next = 0] = code.slice(-size);
      const hashes = choices.map((byte) => follow(hash, byte, left));
      // The following byte changes only the last bits.
      const fits = (each: number): boolean => isCrowded(follow(each, 128, next));
      const [chosen = 0] = [
        hashes.findIndex((each) => isCrowded(each) && fits(each)),
        hashes.findIndex(fits),
        0,
      ].filter((index) => index >= 0);
      code.push(choices[chosen] ?? 0);
      hash = hashes[chosen] ?? 0;
    }
    return code;
  }

  /** Number of reads of the bytecodes and their tables during an alignment. */
  function countReads(left: readonly number[], right: readonly number[]): number {
    let reads = 0;
    const watched = <Watched extends object>(bytes: Watched): Watched => {
      const proxy: Watched = new Proxy(bytes, {
        get: (target, key): unknown => {
          reads += 1;
          const value: unknown = Reflect.get(target, key);
          if (typeof value !== 'function') return value;
          return (...given: readonly unknown[]): unknown => {
            const result: unknown = Reflect.apply(value, target, given);
            return result === target ? proxy : result;
          };
        },
      });
      return proxy;
    };
    vi.stubGlobal('Int32Array', function WatchedArray(length: number) {
      return watched(new Array<number>(length).fill(0));
    });
    alignCodes(watched(left), watched(right));
    vi.unstubAllGlobals();
    return reads;
  }

  const hostile = fc.oneof(
    fc
      .tuple(fc.constantFrom(32, 16, 8), fc.nat(2 ** 20))
      .map(([size, seed]) => crowdedCode(size, seed)),
    fc.nat(2 ** 20).map((seed) => codeOf(HOSTILE_BYTES, seed)),
    fc
      .integer({ min: 1, max: 64 })
      .map((period) => codeOf(HOSTILE_BYTES).map((_, at) => at % period)),
  );
  const hostilePairs = fc.oneof(
    fc.tuple(hostile, hostile),
    fc.tuple(hostile, fc.integer({ min: 2, max: 40 })).map(([left, every]) => {
      return [left, left.flatMap((byte, at) => (at % every ? byte : [byte, 7]))];
    }),
    hostile.map((left) => [left, left.toReversed()]),
  );

  test('have bounded reads of their bytes and window tables', () => {
    const crowded = crowdedCode(32, 1);
    for (const right of [codeOf(150), crowdedCode(32, 2), crowded.toReversed()]) {
      expect(countReads(crowded, right)).toBeLessThan(
        READS_OF_A_BYTE * (crowded.length + right.length),
      );
      expect(countReads(right, crowded)).toBeLessThan(
        READS_OF_A_BYTE * (crowded.length + right.length),
      );
    }
    fc.assert(
      fc.property(hostilePairs, ([left = [], right = []]) => {
        const reads = countReads(left, right);
        expect(reads).toBeLessThan(READS_OF_A_BYTE * (left.length + right.length));
      }),
      { numRuns: 5 },
    );
  });
});
