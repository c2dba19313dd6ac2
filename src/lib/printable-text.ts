const MAX_LENGTH = 300;
// Control characters, line separators, characters that reorder text or are invisible, lone surrogates, and
// the backslash itself, so that two different texts never look the same.
const UNPRINTABLE =
  /[\\\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufffd]|\p{Surrogate}/gu;

/**
 * Makes untrusted text safe for terminals and logs: unprintable characters, characters that reorder the line
 * and lone surrogates appear as `\u{...}`, and text longer than `maxLength` UTF-16 code units is truncated
 * with an ellipsis.
 */
export function printableText(text: string, maxLength = MAX_LENGTH): string {
  return escapeText(text, maxLength, '\\\\');
}

/** Does the same as {@link printableText} but keeps backslashes, for text to copy, such as a pattern. */
export function copyableText(text: string, maxLength = MAX_LENGTH): string {
  return escapeText(text, maxLength, '\\');
}

/**
 * Does the same as {@link copyableText} but keeps line breaks and tabs, for multi-line text such as compiler
 * messages; not for logs.
 */
export function printableLines(text: string, maxLength = MAX_LENGTH): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return cut
    .split(/\r?\n/)
    .map((line) =>
      line
        .split('\t')
        .map((part) => copyableText(part, maxLength + 1))
        .join('\t'),
    )
    .join('\n');
}

function escapeText(text: string, maxLength: number, backslash: string): string {
  const cut = text.length > maxLength;
  const shown = (cut ? text.slice(0, maxLength) : text).replace(UNPRINTABLE, (character) =>
    character === '\\' ? backslash : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return cut ? `${shown}…` : shown;
}
