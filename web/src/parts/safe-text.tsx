import { type VNode } from 'preact';
import { splitAtHiddenCharacters, spellRun, type TextPart } from '../contract/hidden-characters.ts';
import { formatCount } from '../format.ts';
import './safe-text.css';

/** Maximum length of a name or path: a page may have hundreds. */
const NAME = { most: 1_000, marks: 20 };

/** Untrusted text: invisible characters are shown as code points. Text longer than a name is truncated. */
export function SafeText({
  text,
  most = NAME.most,
  marks = NAME.marks,
}: {
  readonly text: string;
  /** Maximum characters, and maximum runs of invisible ones. */
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

/** A segment of a text; an invisible character is a mark with its code point. */
export function renderPart(part: TextPart, index: number): VNode | string {
  return typeof part === 'string' ? (
    part
  ) : (
    <span class="hidden-character" key={index} title={part.name}>
      {spellRun(part)}
    </span>
  );
}
