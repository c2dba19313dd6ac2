/** A name or number, a string or hex literal, or any other character of a Yul program. */
export interface YulToken {
  readonly kind: 'word' | 'literal' | 'mark';
  /** Of a literal what stands between its quotes. */
  readonly text: string;
  /** Of a literal the bytes that it stands for, at most. */
  readonly bytes: number;
}

/** Where the compiler's scanner ends the comment of a line. */
const LINE_END = /[\n\v\f\r\u0085\u2028\u2029]/g;
const WORD = /[\w$.]+/y;
const SPACES = /\s+/y;
/** UTF-8 of an escaped character of the basic plane has three bytes at most. */
const UNICODE_ESCAPE_BYTES = 3;

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** Where a comment that begins at `at` ends; `at` itself where none begins. One that is not closed takes the rest. */
function skipComment(text: string, at: number): number {
  if (text.startsWith('//', at)) {
    LINE_END.lastIndex = at;
    return LINE_END.exec(text)?.index ?? text.length;
  }
  if (!text.startsWith('/*', at)) return at;
  const end = text.indexOf('*/', at + 2);
  return end === -1 ? text.length : end + 2;
}

/** The literal whose opening quote stands at `at`, and where it ends. */
function readLiteral(
  text: string,
  at: number,
  isHex: boolean,
): { readonly token: YulToken; readonly end: number } {
  const quote = text[at];
  let end = at + 1;
  let bytes = 0;
  while (end < text.length && text[end] !== quote) {
    const isEscape = text[end] === '\\';
    const escaped = isEscape ? text[end + 1] : undefined;
    if (escaped === 'u') bytes += UNICODE_ESCAPE_BYTES;
    else if (isHex) bytes += text[end] === '_' ? 0 : 0.5;
    else bytes += Buffer.byteLength(text[end] ?? '');
    end += escaped === 'x' ? 4 : escaped === 'u' ? 6 : isEscape ? 2 : 1;
  }
  const content = text.slice(at + 1, end);
  return {
    token: { kind: 'literal', text: content, bytes: Math.ceil(bytes) },
    end: end + 1,
  };
}

/**
 * Reads a program as the compiler's scanner does, whether it compiles or not: what stands in comments and in strings is
 * no name, and a string says its bytes by whatever escapes. Takes time linear in the text.
 */
export function* readYulTokens(text: string): Generator<YulToken> {
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
      yield { kind: 'word', text: word, bytes: 0 };
      at += word.length;
    } else if (at < text.length) {
      yield { kind: 'mark', text: text[at] ?? '', bytes: 0 };
      at += 1;
    }
  }
}
