const MAX_LENGTH = 300;
// Control characters, line separators, what reorders text on a screen or cannot be seen there, lone surrogates, and
// the backslash itself, so that two different texts never look alike.
const UNPRINTABLE =
  /[\\\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufffd]|\p{Surrogate}/gu;

/**
 * Text from outside as it may be shown on a terminal and in a log: what is not printable, what reorders the line and
 * lone surrogates appear as `\u{…}`, and what is longer than `maxLength` UTF-16 code units is cut with `…`.
 */
export function printableText(text: string, maxLength = MAX_LENGTH): string {
  return escapeText(text, maxLength, '\\\\');
}

/** As {@link printableText}, but backslashes stand as they are: for what people copy, such as a pattern. */
export function copyableText(text: string, maxLength = MAX_LENGTH): string {
  return escapeText(text, maxLength, '\\');
}

/**
 * As {@link copyableText}, but line breaks and tabs stay: for what people read in lines, such as the messages of a compiler,
 * and never for a log.
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
