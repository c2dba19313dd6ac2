import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { renderPart } from '../parts/safe-text.tsx';
import { splitAtHiddenCharacters } from './hidden-characters.ts';
import { type CodePiece, loadHighlighter, plainLines } from './highlight.ts';

/** A source with numbered lines. Where a script runs, tokens get colours; hidden characters are shown everywhere. */
export function SourceCode({
  text,
  label,
}: {
  readonly text: string;
  readonly label: string;
}): VNode {
  const [lines, setLines] = useState<CodePiece[][]>(() => plainLines(text));
  useEffect(() => {
    let isCurrent = true;
    loadHighlighter().then(
      (highlight) => {
        if (isCurrent) setLines(highlight(text));
      },
      // Without the grammar the source stays as it is.
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [text]);
  return (
    <pre class="source" tabIndex={0} role="region" aria-label={label}>
      <code>
        {lines.map((line, index) => (
          <span class="line" key={index}>
            {line.map(renderPiece)}
            {'\n'}
          </span>
        ))}
      </code>
    </pre>
  );
}

function renderPiece({ kind, text }: CodePiece, index: number): VNode {
  // The whole source has no more of them than may be shown.
  const { parts } = splitAtHiddenCharacters(text.replace(/\r$/, ''), Infinity);
  return (
    <span key={index} class={kind === undefined ? undefined : `token ${kind}`}>
      {parts.map(renderPart)}
    </span>
  );
}
