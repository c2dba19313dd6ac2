import { formatCount } from '../format.ts';

/** Why an invisible character matters to a reader of source code. */
export type HiddenKind = 'bidirectional' | 'zero_width' | 'control';

/** A character that is invisible, or that changes the order of visible ones. */
export interface HiddenCharacter {
  /** Both are counted from 1; columns in UTF-16 units. */
  readonly line: number;
  readonly column: number;
  /** `U+202E`. */
  readonly codePoint: string;
  /** Unicode name, if it says more than the code point. */
  readonly name: string;
  readonly kind: HiddenKind;
}

const NAMES: Readonly<Record<number, readonly [HiddenKind, string]>> = {
  0x00ad: ['zero_width', 'soft hyphen'],
  0x034f: ['zero_width', 'combining grapheme joiner'],
  0x061c: ['bidirectional', 'Arabic letter mark'],
  0x115f: ['zero_width', 'Hangul choseong filler'],
  0x1160: ['zero_width', 'Hangul jungseong filler'],
  0x17b4: ['zero_width', 'Khmer vowel inherent aq'],
  0x17b5: ['zero_width', 'Khmer vowel inherent aa'],
  0x180e: ['zero_width', 'Mongolian vowel separator'],
  0x200b: ['zero_width', 'zero width space'],
  0x200c: ['zero_width', 'zero width non-joiner'],
  0x200d: ['zero_width', 'zero width joiner'],
  0x200e: ['bidirectional', 'left-to-right mark'],
  0x200f: ['bidirectional', 'right-to-left mark'],
  0x202a: ['bidirectional', 'left-to-right embedding'],
  0x202b: ['bidirectional', 'right-to-left embedding'],
  0x202c: ['bidirectional', 'pop directional formatting'],
  0x202d: ['bidirectional', 'left-to-right override'],
  0x202e: ['bidirectional', 'right-to-left override'],
  0x2060: ['zero_width', 'word joiner'],
  0x2061: ['zero_width', 'function application'],
  0x2062: ['zero_width', 'invisible times'],
  0x2063: ['zero_width', 'invisible separator'],
  0x2064: ['zero_width', 'invisible plus'],
  0x2066: ['bidirectional', 'left-to-right isolate'],
  0x2067: ['bidirectional', 'right-to-left isolate'],
  0x2068: ['bidirectional', 'first strong isolate'],
  0x2069: ['bidirectional', 'pop directional isolate'],
  0x3164: ['zero_width', 'Hangul filler'],
  0xfeff: ['zero_width', 'zero width no-break space'],
  0xffa0: ['zero_width', 'halfwidth Hangul filler'],
};

// Format characters, controls except tab and line ends, and the letters above that have no glyph. A match is
// one character.
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]|\p{Cf}/gu;

function describe(character: string): Omit<HiddenCharacter, 'line' | 'column'> {
  const point = character.codePointAt(0) ?? 0;
  const codePoint = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
  const [kind, name] = NAMES[point] ?? [
    point < 0xa0 ? 'control' : 'zero_width',
    point < 0xa0 ? 'control character' : 'format character',
  ];
  return { codePoint, name, kind };
}

/**
 * Finds the invisible characters of a text in order: those of Unicode's bidirectional algorithm, which can
 * make source read differently from how it compiles (CVE-2021-42574), zero-width ones, and controls.
 * @param limit maximum number
 */
export function findHiddenCharacters(text: string, limit = Infinity): HiddenCharacter[] {
  const found: HiddenCharacter[] = [];
  let line = 1;
  let lineStart = 0;
  let lineEnd = text.indexOf('\n');
  for (const match of text.matchAll(HIDDEN)) {
    if (found.length >= limit) break;
    while (lineEnd !== -1 && lineEnd < match.index) {
      line += 1;
      lineStart = lineEnd + 1;
      lineEnd = text.indexOf('\n', lineStart);
    }
    found.push({ line, column: match.index - lineStart + 1, ...describe(match[0]) });
  }
  return found;
}

/** A run of the same invisible character. */
export interface HiddenRun extends Omit<HiddenCharacter, 'line' | 'column'> {
  readonly count: number;
}

/** A segment of a text: plain, or an invisible character. */
export type TextPart = string | HiddenRun;

/** The beginning of a text in segments, and the number of UTF-16 units that are left. */
export interface SplitText {
  readonly parts: readonly TextPart[];
  readonly left: number;
}

/**
 * Splits a text at its invisible characters, so that each can be shown by its code point. A run of the same
 * one is one segment.
 * @param marks maximum number of runs: the text ends before the next one
 */
export function splitAtHiddenCharacters(text: string, marks: number): SplitText {
  const parts: TextPart[] = [];
  const hidden = new RegExp(HIDDEN);
  let from = 0;
  let found = 0;
  for (let match = hidden.exec(text); match !== null; match = hidden.exec(text)) {
    const [character] = match;
    if (match.index > from) parts.push(text.slice(from, match.index));
    from = match.index;
    if (found === marks) return { parts, left: text.length - from };
    while (text.startsWith(character, from)) from += character.length;
    parts.push({ ...describe(character), count: (from - match.index) / character.length });
    found += 1;
    hidden.lastIndex = from;
  }
  if (from < text.length) parts.push(text.slice(from));
  return { parts, left: 0 };
}

/** `U+200B`, or `U+200B × 3`. */
export function spellRun({ codePoint, count }: HiddenRun): string {
  return count === 1 ? codePoint : `${codePoint} × ${formatCount(count)}`;
}

/** Maximum length of a title or label. */
const SPELLED_MARKS = 20;
const SPELLED_CHARACTERS = 1_000;

/** Replaces the invisible characters of a text by their code points, for plain text such as titles and labels. */
export function spellHiddenCharacters(text: string): string {
  const { parts, left } = splitAtHiddenCharacters(text.slice(0, SPELLED_CHARACTERS), SPELLED_MARKS);
  const spelled = parts.map((part) => (typeof part === 'string' ? part : spellRun(part))).join('');
  return left > 0 || text.length > SPELLED_CHARACTERS ? `${spelled}…` : spelled;
}
