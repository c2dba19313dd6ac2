import { queryOfSource } from './shown-paths.ts';

/** A line that contains the search text. */
export interface FoundLine {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** The text around the match. */
  readonly text: string;
  /** Link to it; absent if no URL can name it. */
  readonly href?: string;
}

/** A page of the files of a contract. */
export interface SearchedPage {
  readonly sources: readonly { readonly path: string; readonly content: string | null }[];
  /** The path after which it begins; null for the first. */
  readonly after: string | null;
}

/** Result of a search in the files of a contract. */
export interface FoundLines {
  readonly text: string;
  readonly lines: readonly FoundLine[];
  /** Whether there are more than are listed. */
  readonly isCut: boolean;
  /** Number of files that were not searched: a page reads a limited number of bytes. */
  readonly unsearched: number;
}

const LINES_SHOWN = 100;
const SHOWN_AROUND = 60;
const SHOWN_CHARACTERS = 180;
const LOOKED_FOR_CHARACTERS = 200;

/**
 * Finds the lines of sources that contain a text, ignoring case.
 * @param total number of files of the contract
 */
export function findLines(
  pages: readonly SearchedPage[],
  looked: string,
  total: number,
): FoundLines {
  const text = looked.slice(0, LOOKED_FOR_CHARACTERS);
  const wanted = text.toLowerCase();
  const lines: FoundLine[] = [];
  const files = pages.flatMap(({ sources, after }) =>
    sources.map((source) => ({ ...source, after })),
  );
  const unsearched = total - files.filter(({ content }) => content !== null).length;
  for (const { path, content, after } of files) {
    const low = (content ?? '').toLowerCase();
    let [line, counted] = [1, 0];
    // Lower-casing changes the length in a few scripts; the position may then be slightly off.
    for (let at = low.indexOf(wanted); at !== -1; at = low.indexOf(wanted, endOfLine(low, at))) {
      if (lines.length === LINES_SHOWN) return { text, lines, isCut: true, unsearched };
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
  return { text, lines, isCut: false, unsearched };
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}
