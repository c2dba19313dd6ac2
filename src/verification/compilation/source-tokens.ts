/** A name or number, a string or hex literal, or any other character of a Solidity or Yul program. */
export interface SourceToken {
  readonly kind: 'word' | 'literal' | 'mark';
  /** For a literal: the text between its quotes. */
  readonly text: string;
  /** For a literal: whether its text is hexadecimal. */
  readonly isHex: boolean;
  /** Offset of its first character. */
  readonly at: number;
}

/** Characters at which the compiler's scanner ends a line comment. */
const LINE_END = /[\n\v\f\r\u0085\u2028\u2029]/g;
const WORD = /[\w$.]+/y;
const SPACES = /\s+/y;
/** An escape in a string: a byte, a character, a line continuation, or a single character. */
const ESCAPE = /\\(?:x([\da-f]{2})|u([\da-f]{4})|\r\n|([^]))/giu;
const ESCAPED: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/**
 * Returns the end of a comment that starts at `at`; `at` itself if none starts there. An unclosed comment
 * extends to the end of the text.
 */
function skipComment(text: string, at: number): number {
  if (text.startsWith('//', at)) {
    LINE_END.lastIndex = at;
    return LINE_END.exec(text)?.index ?? text.length;
  }
  if (!text.startsWith('/*', at)) return at;
  const end = text.indexOf('*/', at + 2);
  return end === -1 ? text.length : end + 2;
}

/** Reads the literal whose opening quote is at `at`. */
function readLiteral(
  text: string,
  at: number,
  isHex: boolean,
): { readonly token: SourceToken; readonly end: number } {
  const quote = text[at];
  let end = at + 1;
  while (end < text.length && text[end] !== quote) end += text[end] === '\\' ? 2 : 1;
  return { token: { kind: 'literal', text: text.slice(at + 1, end), isHex, at }, end: end + 1 };
}

/** Returns the bytes of a literal. */
export function bytesOfLiteral({ text, isHex }: SourceToken): Buffer {
  if (isHex) return Buffer.from(text.replaceAll('_', ''), 'hex');
  const parts: Buffer[] = [];
  let from = 0;
  for (const escape of text.matchAll(ESCAPE)) {
    const [whole, byte, character, other = ''] = escape;
    parts.push(Buffer.from(text.slice(from, escape.index)));
    if (byte !== undefined) parts.push(Buffer.from(byte, 'hex'));
    else if (character !== undefined) {
      parts.push(Buffer.from(String.fromCharCode(Number.parseInt(character, 16))));
    } else if (!/[\r\n]/.test(other)) parts.push(Buffer.from(ESCAPED[other] ?? other));
    from = escape.index + whole.length;
  }
  return Buffer.concat([...parts, Buffer.from(text.slice(from))]);
}

/**
 * Tokenizes a program like the compiler's scanner, whether it compiles or not: comments and strings contain
 * no names, and a string can spell its bytes with escapes. Runs in time linear in the text.
 */
export function* readSourceTokens(text: string): Generator<SourceToken> {
  let at = 0;
  while (at < text.length) {
    at += matchAt(SPACES, text, at).length;
    const after = skipComment(text, at);
    if (after > at) {
      at = after;
      continue;
    }
    const word = matchAt(WORD, text, at);
    const quoteAt = at + (word === 'hex' || word === 'unicode' ? word.length : 0);
    if (text[quoteAt] === '"' || text[quoteAt] === "'") {
      const { token, end } = readLiteral(text, quoteAt, word === 'hex');
      yield token;
      at = end;
    } else if (word !== '') {
      yield { kind: 'word', text: word, isHex: false, at };
      at += word.length;
    } else if (at < text.length) {
      yield { kind: 'mark', text: text[at] ?? '', isHex: false, at };
      at += 1;
    }
  }
}
