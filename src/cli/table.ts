import { printableText } from '../lib/printable-text.ts';

const GAP = '  ';
const MAXIMUM_CELL_CHARACTERS = 2000;
const graphemes = new Intl.Segmenter();

/**
 * Rows below their heads, columns aligned at their left. Cells hold text from outside, so what is not printable is
 * escaped, by `showCell` as {@link printableText} does it. Lines have no white space at their ends.
 */
export function renderTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  showCell = printableText,
): string {
  const lines = [heads, ...rows].map((row) =>
    row.map((cell) => showCell(cell, MAXIMUM_CELL_CHARACTERS)),
  );
  const widths = heads.map((_head, column) =>
    lines.reduce((widest, cells) => Math.max(widest, widthOf(cells[column] ?? '')), 0),
  );
  const pad = (cell: string, column: number) =>
    cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)));
  return lines.map((cells) => `${cells.map(pad).join(GAP).trimEnd()}\n`).join('');
}

/** Columns on a terminal, with an ideograph as one: near enough, and without a table of Unicode. */
function widthOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : Array.from(graphemes.segment(text)).length;
}
