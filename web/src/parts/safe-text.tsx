import { type VNode } from 'preact';
import { splitAtHiddenCharacters, spellRun, type TextPart } from '../contract/hidden-characters.ts';
import { formatCount } from '../format.ts';
import './safe-text.css';

/** Of a name or a path: a page may have hundreds. */
const NAME = { most: 1_000, marks: 20 };

/**
 * Text of others: characters that nobody sees are shown by their numbers, so that it reads as it is stored. A text that
 * is longer than a name is cut.
 */
export function SafeText({
  text,
  most = NAME.most,
  marks = NAME.marks,
}: {
  readonly text: string;
  /** How many characters are shown, and how many runs of hidden ones. */
  readonly most?: number;
  readonly marks?: number;
}): VNode {
  const { parts, left } = splitAtHiddenCharacters(text.slice(0, most), marks);
  const rest = left + Math.max(0, text.length - most);
  return (
    <bdi>
      {parts.map(renderPart)}
      {rest > 0 && <span class="quiet">… and {formatCount(rest)} more characters</span>}
    </bdi>
  );
}

/** A part of a text, a hidden character as a mark with its number. */
export function renderPart(part: TextPart, index: number): VNode | string {
  return typeof part === 'string' ? (
    part
  ) : (
    <span class="hidden-character" key={index} title={part.name}>
      {spellRun(part)}
    </span>
  );
}
