import { type VNode } from 'preact';
import { splitAtHiddenCharacters } from '../contract/hidden-characters.ts';
import './safe-text.css';

/** Text of others: characters that nobody sees are shown by their numbers, so that it reads as it is stored. */
export function SafeText({ text }: { readonly text: string }): VNode {
  const parts = splitAtHiddenCharacters(text);
  return (
    <bdi>
      {parts.map((part, index) =>
        typeof part === 'string' ? (
          part
        ) : (
          <span class="hidden-character" key={index} title={part.name}>
            {part.codePoint}
          </span>
        ),
      )}
    </bdi>
  );
}
