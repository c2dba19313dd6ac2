import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { CopyButton } from '../parts/copy-button.tsx';
import { renderPart } from '../parts/safe-text.tsx';
import { useHydrated } from '../use-hydrated.ts';
import { type SourceFile } from './contract-data.ts';
import { splitAtHiddenCharacters } from './hidden-characters.ts';
import { type CodePiece, loadHighlighter, plainLines } from './highlight.ts';
import { fragmentOf, isNamedBy, type LineRange, readLineRange } from './line-range.ts';

/** Width of the line numbers in CSS pixels. */
const NUMBER_WIDTH = 56;

/**
 * A source with numbered lines, each of which is a target of links. With scripts tokens are coloured, and a click on a
 * number, or a second one with Shift, puts the lines into the URL; invisible characters are always shown.
 */
export function SourceCode({
  text,
  path,
  queries,
  label,
}: {
  readonly text: string;
  readonly path: string;
  /** Link to each file of the page. */
  readonly queries: readonly Pick<SourceFile, 'path' | 'query'>[];
  readonly label: string;
}): VNode {
  const [lines, setLines] = useState<CodePiece[][]>(() => plainLines(text));
  const { range, choose } = useLineRange(path, queries);
  useEffect(() => {
    let isCurrent = true;
    loadHighlighter().then(
      (highlight) => {
        if (isCurrent) setLines(highlight(text));
      },
      // Without the grammar the source stays plain.
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [text]);
  return (
    <>
      <LineField total={lines.length} path={path} range={range} />
      <pre
        class="source"
        tabIndex={0}
        role="region"
        aria-label={label}
        onClick={(event) => {
          const line = (event.target as Element).closest('.line');
          const isNumber =
            line !== null && event.clientX - line.getBoundingClientRect().left < NUMBER_WIDTH;
          if (!isNumber) return;
          const at = Number(line.id.slice(1));
          const from = event.shiftKey && range !== undefined ? range.first : at;
          choose(Math.min(from, at), Math.max(from, at));
        }}
      >
        <code>
          {lines.map((line, index) => (
            <span
              class={isWithin(range, index + 1) ? 'line marked' : 'line'}
              id={`L${index + 1}`}
              key={index}
            >
              {line.map(renderPiece)}
              {'\n'}
            </span>
          ))}
        </code>
      </pre>
    </>
  );
}

const isWithin = (range: LineRange | undefined, line: number): boolean =>
  range !== undefined && line >= range.first && line <= range.last;

/** The lines in the URL, and a setter for them. */
function useLineRange(
  path: string,
  queries: readonly Pick<SourceFile, 'path' | 'query'>[],
): {
  readonly range: LineRange | undefined;
  readonly choose: (first: number, last: number) => void;
} {
  const [range, setRange] = useState<LineRange>();
  useEffect(() => {
    const read = (): void => {
      const named = readLineRange(location.hash);
      const file = named?.file;
      if (file === undefined || isNamedBy(path, file)) {
        setRange(named);
        document.querySelector(`#L${named?.first ?? 0}`)?.scrollIntoView({ block: 'center' });
        return;
      }
      const other = queries.find((each) => isNamedBy(each.path, file))?.query;
      if (other !== undefined) location.replace(`?${other}${location.hash}`);
    };
    read();
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, [path]);
  const choose = (first: number, last: number): void => {
    setRange({ first, last });
    history.replaceState(history.state, '', fragmentOf(path, first, last));
  };
  return { range, choose };
}

/** Navigates to lines by keyboard, and copies the link to them. Rendered only with scripts. */
function LineField({
  total,
  path,
  range,
}: {
  readonly total: number;
  readonly path: string;
  readonly range: LineRange | undefined;
}): VNode | null {
  const isHydrated = useHydrated();
  const [typed, setTyped] = useState('');
  if (!isHydrated) return null;
  const go = (): void => {
    const [from, to = from] = typed.split('-').map((part) => Number(part.trim()));
    const isLine = (line: number | undefined): line is number =>
      line !== undefined && Number.isInteger(line) && line >= 1 && line <= total;
    // The URL changes, and its listener shows the lines.
    if (isLine(from) && isLine(to)) {
      location.hash = fragmentOf(path, Math.min(from, to), Math.max(from, to));
    }
  };
  return (
    <form
      class="lines-field"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <label for="line">Go to line</label>{' '}
      <input
        id="line"
        inputMode="numeric"
        size={9}
        placeholder="10-20"
        value={typed}
        autocomplete="off"
        onInput={(event) => setTyped(event.currentTarget.value)}
      />{' '}
      <button type="submit">Go</button>{' '}
      {range !== undefined && (
        <CopyButton
          text={location.href}
          what={`the link to line ${range.first}${range.last === range.first ? '' : ` to ${range.last}`}`}
          label="Copy link to lines"
        />
      )}
    </form>
  );
}

function renderPiece({ kind, text }: CodePiece, index: number): VNode {
  // The complete source has at most as many as may be shown.
  const { parts } = splitAtHiddenCharacters(text.replace(/\r$/, ''), Infinity);
  return (
    <span key={index} class={kind === undefined ? undefined : `token ${kind}`}>
      {parts.map(renderPart)}
    </span>
  );
}
