import { queryOfSource } from './shown-paths.ts';

/** A line that holds what was looked for. */
export interface FoundLine {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** The line around the place. */
  readonly text: string;
  /** What shows it; absent where no link can name it. */
  readonly href?: string;
}

/** What a search through the files of a page found. */
export interface FoundLines {
  readonly text: string;
  readonly lines: readonly FoundLine[];
  /** Whether there are more than are told. */
  readonly isCut: boolean;
}

const LINES_SHOWN = 100;
const SHOWN_AROUND = 60;
const SHOWN_CHARACTERS = 180;
const LOOKED_FOR_CHARACTERS = 200;

/** The lines of sources that hold a text, letter by letter; case does not count. */
export function findLines(
  sources: readonly { readonly path: string; readonly content: string | null }[],
  looked: string,
  after: string | null,
): FoundLines {
  const text = looked.slice(0, LOOKED_FOR_CHARACTERS);
  const wanted = text.toLowerCase();
  const lines: FoundLine[] = [];
  for (const { path, content } of sources) {
    const low = (content ?? '').toLowerCase();
    let [line, counted] = [1, 0];
    // Lower case has another length in a few scripts; there a place may be told a little beside.
    for (let at = low.indexOf(wanted); at !== -1; at = low.indexOf(wanted, endOfLine(low, at))) {
      if (lines.length === LINES_SHOWN) return { text, lines, isCut: true };
      for (let next = low.indexOf('\n', counted); next !== -1 && next < at;) {
        line += 1;
        counted = next + 1;
        next = low.indexOf('\n', counted);
      }
      const from = Math.max(counted, at - SHOWN_AROUND);
      const end = Math.min(endOfLine(low, at), from + SHOWN_CHARACTERS);
      const query = queryOfSource(path, after ?? undefined);
      lines.push({
        ...{ path, line, text: (content ?? '').slice(from, end).trim() },
        ...(query !== undefined && { href: `?${query}#L${line}` }),
      });
    }
  }
  return { text, lines, isCut: false };
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}
