import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linkedByYul, requireReadableYul } from './yul-program.ts';
import { readYulTokens } from './yul-tokens.ts';

const inputOf = (content: string) => ({
  language: 'Yul',
  sources: { 'a.yul': { content } },
  settings: {},
});

function isReadable(content: string): boolean {
  try {
    requireReadableYul(inputOf(content));
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'verbatim_not_allowed' });
    return false;
  }
}

describe('requireReadableYul', () => {
  it.each([
    ['a short literal', 'verbatim_0i_1o(hex"5f")'],
    ['eight bytes', `verbatim_0i_1o(hex"${'5f'.repeat(8)}")`],
    ['eight bytes by escapes', `verbatim_0i_0o("${String.raw`\x5f`.repeat(8)}")`],
    [
      'a long one in a comment',
      `/* verbatim_0i_0o(hex"${'5f'.repeat(9)}") */ // verbatim_0i_0o(1)`,
    ],
    ['a long one in a string', `let x := "verbatim_0i_0o(1)"`],
    ['a byte behind a function', 'function f() { } verbatim_0i_1o(hex"30")'],
    ['a byte of an operand that would be a jump', 'verbatim_0i_1o(hex"6056")'],
    ['long data', `data "x" hex"${'5f'.repeat(900)}"`],
    ['another name', 'function verbatim_copy(x) {} my.verbatim_0i_0o(x)'],
  ])('takes %s', (_what, content) => {
    expect(isReadable(content)).toBe(true);
  });

  it.each([
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
    ['a jump by an escape', String.raw`verbatim_1i_0o("\x57")`],
    ['many short ones', 'verbatim_0i_0o("12345678")'.repeat(5)],
    ['thirty-three of one byte', 'verbatim_0i_0o(hex"5f")'.repeat(33)],
  ])('refuses %s', (_what, content) => {
    expect(isReadable(content)).toBe(false);
  });

  it('finds the call behind any comments, strings and literals', () => {
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

  it('reads any text to its end, in time linear in it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('/', '*', '"', "'", '\\', 'hex', ' ', '\n', 'v') }),
        (text) => {
          expect(() => [...readYulTokens(text)]).not.toThrow();
        },
      ),
    );
    const started = performance.now();
    for (const text of ['/*', '"\\', "hex'", '//', '(']) {
      expect([...readYulTokens(text.repeat(200_000))].length).toBeGreaterThanOrEqual(0);
    }
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

it('names the libraries that a program links', () => {
  const content = 'mstore(0, linkersymbol("a.sol:L")) // linkersymbol("b.sol:M")';
  expect(linkedByYul(inputOf(content))).toEqual(['a.sol:L']);
  const escaped = String.raw`mstore(0, linkersymbol("a.sol\x3aL")) linkersymbol("\u0062.sol:M")`;
  expect(linkedByYul(inputOf(escaped))).toEqual(['a.sol:L', 'b.sol:M']);
});
