import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { containsVerbatim, requireNoRawBytecode } from './yul-program.ts';
import { readSourceTokens } from './source-tokens.ts';

const inputOf = (content: string) => ({
  language: 'Yul',
  sources: { 'a.yul': { content } },
  settings: {},
});

function isReadable(content: string): boolean {
  try {
    requireNoRawBytecode(inputOf(content));
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'verbatim_not_allowed' });
    return false;
  }
}

/** Stack values below the inputs of a call, where return addresses are. */
const BELOW: readonly string[] = Array.from({ length: 17 }, (_, index) => `below ${index}`);

/** Opcodes that continue with the next one, by the number of values they take and give. */
const TAKES_AND_GIVES: Readonly<Record<string, string>> = {
  '2 1': '01 02 03 04 05 06 07 0a 0b 10 11 12 13 14 16 17 18 1a 1b 1c 1d 20',
  '3 1': '08 09',
  '1 1': '15 19 1e 31 35 3b 3f 40 49 51 54 5c',
  '0 1': '30 32 33 34 36 38 3a 3d 41 42 43 44 45 46 47 48 4a 59 5a',
  '1 0': '50',
  '2 0': '52 53 55 5d a0',
  '3 0': '37 39 3e 5e a1',
  '4 0': '3c a2',
  '5 0': 'a3',
  '6 0': 'a4',
};
const EFFECTS = new Map(
  Object.entries(TAKES_AND_GIVES).flatMap(([effect, opcodes]) =>
    opcodes.split(' ').map((opcode) => [Number.parseInt(opcode, 16), effect] as const),
  ),
);

/**
 * Runs bytes on a symbolic stack; undefined if they touch values below the inputs, do not run to the end, or
 * contain an unknown opcode.
 */
function runOnStack(code: readonly number[], inputs: number): string[] | undefined {
  const stack = [...BELOW, ...Array.from({ length: inputs }, (_, index) => `input ${index}`)];
  const reaches = (depth: number): boolean => stack.length - depth >= BELOW.length;
  for (let at = 0; at < code.length; at += 1) {
    const opcode = code[at] ?? 0;
    if (opcode >= 0x5f && opcode <= 0x7f) {
      at += opcode - 0x5f;
      if (at >= code.length) return undefined;
      stack.push('pushed');
    } else if (opcode >= 0x80 && opcode <= 0x8f) {
      const depth = opcode - 0x7f;
      if (!reaches(depth)) return undefined;
      stack.push(stack.at(-depth) ?? '');
    } else if (opcode >= 0x90 && opcode <= 0x9f) {
      const depth = opcode - 0x8e;
      if (!reaches(depth)) return undefined;
      const other = stack.length - depth;
      const [top = '', deep = ''] = [stack.pop(), stack[other]];
      stack[other] = top;
      stack.push(deep);
    } else {
      const effect = EFFECTS.get(opcode);
      if (effect === undefined) return undefined;
      const [takes = 0, gives = 0] = effect.split(' ').map(Number);
      if (!reaches(takes)) return undefined;
      stack.length -= takes;
      for (let index = 0; index < gives; index += 1) stack.push('given');
    }
  }
  return stack;
}

describe('requireReadableYul', () => {
  test('reads programs of any depth and resolves functions by block scope', () => {
    const [deep, call] = ['{'.repeat(2_000_000), `verbatim_0i_0o(hex"")`];
    expect(isReadable(`${deep}${call.repeat(100_000)}`)).toBe(true);
    expect(isReadable(`{ function f() { { } } ${call} }`)).toBe(true);
    expect(isReadable(`function f() ${deep}${call}`)).toBe(false);
    expect(isReadable(`function f() { { } ${call} }`)).toBe(false);
    expect(isReadable(`function f() { function g() { } ${call} }`)).toBe(false);
  });

  test.each([
    ['a short literal', 'verbatim_0i_1o(hex"5f")'],
    ['eight bytes', `verbatim_0i_8o(hex"${'5f'.repeat(8)}")`],
    ['eight bytes by escapes', `verbatim_0i_8o("${String.raw`\x5f`.repeat(8)}")`],
    ['a new instruction with its inputs', 'verbatim_2i_0o(hex"5d", 0, 1)'],
    ['instructions that move their own inputs', 'verbatim_2i_3o(hex"9081", 0, 1)'],
    ['no bytes without outputs', 'verbatim_0i_0o("")'],
    [
      'a long one in a comment',
      `/* verbatim_0i_0o(hex"${'5f'.repeat(9)}") */ // verbatim_0i_0o(1)`,
    ],
    ['a long one in a string', `let x := "verbatim_0i_0o(1)"`],
    ['a byte behind a function', 'function f() { } verbatim_0i_1o(hex"30")'],
    ['a byte of an operand that would be a jump', 'verbatim_0i_1o(hex"6056")'],
    ['long data', `data "x" hex"${'5f'.repeat(900)}"`],
    ['another name', 'function verbatim_copy(x) {} my.verbatim_0i_0o(x)'],
  ])('accepts %s', (_what, content) => {
    expect(isReadable(content)).toBe(true);
  });

  test.each([
    ['nine bytes', `verbatim_0i_1o(hex"${'5f'.repeat(9)}")`],
    ['nine bytes with underscores, in single quotes', `verbatim_0i_1o(hex'${'5f_'.repeat(8)}5f')`],
    ['nine characters', 'verbatim_12i_3o("123456789")'],
    ['nine bytes by escapes', `verbatim_0i_0o("${String.raw`\x5f`.repeat(9)}")`],
    ['an escaped quote before more', String.raw`verbatim_0i_0o("\"12345678")`],
    ['comments in between', `verbatim_0i_0o/**/( // "\n hex"${'5f'.repeat(9)}")`],
    ['a comment that ends with a carriage return', `// x\rverbatim_0i_0o("123456789")`],
    ['a comment that only looks open', `/*/ */ verbatim_0i_0o("123456789") /* */`],
    ['a quote within a comment', `/* " */ verbatim_0i_0o("123456789") // "`],
    ['no literal', 'verbatim_0i_0o(x)'],
    ['a byte in a function', 'function v() -> r { r := verbatim_0i_1o(hex"30") }'],
    ['a byte in a block of a function', 'function v() { if 1 { verbatim_0i_0o(hex"30") } }'],
    ['a jump', 'verbatim_1i_0o(hex"56")'],
    ['a place to jump to', 'verbatim_0i_0o(hex"5b")'],
    ['a push that takes in what follows', 'verbatim_0i_1o(hex"61ff")'],
    ['a swap with what lies below its inputs', 'verbatim_1i_1o(hex"90", x)'],
    ['a copy of what lies below its inputs', 'verbatim_0i_1o(hex"80")'],
    ['a pop of what lies below its inputs', 'verbatim_0i_1o(hex"5061123434")'],
    ['less outputs than it says', 'verbatim_0i_1o("")'],
    ['more outputs than it says', 'verbatim_1i_0o("", x)'],
    ['outputs beyond the stack', 'verbatim_0i_99o(hex"5f")'],
    ['an end', 'verbatim_0i_0o(hex"00")'],
    ['a call', 'verbatim_7i_1o(hex"f1", 1, 2, 3, 4, 5, 6, 7)'],
    ['an instruction that swaps with an operand', 'verbatim_1i_1o(hex"e7", x)'],
    ['an instruction whose effect differs by chain', 'verbatim_1i_1o(hex"a9", x)'],
    ['a jump by an escape', String.raw`verbatim_1i_0o("\x57")`],
    ['many short ones', 'verbatim_0i_0o("12345678")'.repeat(5)],
    ['thirty-three of one byte', 'verbatim_0i_0o(hex"5f")'.repeat(33)],
  ])('rejects %s', (_what, content) => {
    expect(isReadable(content)).toBe(false);
  });

  test('rejects bytes that access the stack below their inputs or leave a wrong height', () => {
    const short = fc.constantFrom(0x5f, 0x50, 0x01, 0x80, 0x81, 0x90, 0x91, 0x34, 0x52, 0x60, 0x5d);
    const bytes = fc.array(fc.oneof(short, fc.nat(0xff)), { maxLength: 8 });
    const count = fc.nat(3);
    let taken = 0;
    fc.assert(
      fc.property(bytes, count, count, (code, inputs, outputs) => {
        const hex = Buffer.from(code).toString('hex');
        const stack = runOnStack(code, inputs);
        const isSound = stack?.length === BELOW.length + outputs;
        const isTaken = isReadable(`verbatim_${inputs}i_${outputs}o(hex"${hex}")`);
        if (isTaken) taken += 1;
        expect(isTaken, hex).toBe(isSound);
        if (isTaken) expect(stack?.slice(0, BELOW.length)).toEqual(BELOW);
      }),
      { numRuns: 5000 },
    );
    expect(taken).toBeGreaterThan(50);
  });

  test('finds the call after any comments, strings and literals', () => {
    const noise = fc.array(
      fc.oneof(
        fc.string().map((text) => `/*${text.replaceAll('*/', '')}*/`),
        fc.string().map((text) => `//${text.replaceAll(/[\n\v\f\r\u0085\u2028\u2029]/g, '')}\n`),
        fc.string().map((text) => `"${text.replaceAll(/["\\\n\r]/g, '')}"`),
        fc.constantFrom(' ', '\t', '{', '}', 'let x := 1 ', "hex'00' ", String.raw`"\"" `),
      ),
    );
    fc.assert(
      fc.property(noise, noise, (before, after) => {
        const call = ` verbatim_1i_2o("123456789") `;
        expect(isReadable(before.join('') + call + after.join(''))).toBe(false);
        expect(isReadable(before.join('') + after.join(''))).toBe(true);
      }),
    );
  });

  test('tokenizes any text to its end in linear time', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('/', '*', '"', "'", '\\', 'hex', ' ', '\n', 'v') }),
        (text) => {
          expect(() => [...readSourceTokens(text)]).not.toThrow();
        },
      ),
    );
    const started = performance.now();
    for (const text of ['/*', '"\\', "hex'", '//', '(']) {
      expect([...readSourceTokens(text.repeat(200_000))].length).toBeGreaterThanOrEqual(0);
    }
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

test('detects whether a program contains verbatim', () => {
  expect(containsVerbatim(inputOf('let x := verbatim_0i_1o(hex"5f")'))).toBe(true);
  expect(containsVerbatim(inputOf('let x := "verbatim_0i_1o(1)"'))).toBe(false);
});
