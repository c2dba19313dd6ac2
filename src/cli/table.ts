import { printableText } from '../lib/printable-text.ts';

const GAP = '  ';
const MAXIMUM_CELL_CHARACTERS = 2000;
const graphemes = new Intl.Segmenter();

/**
 * Renders a table with left-aligned columns. Cells contain untrusted text, so `showCell` escapes what is not
 * printable, by default as {@link printableText} does. Lines have no trailing white space.
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

/**
 * Returns the width in terminal columns, counting an ideograph as one: a good approximation without a Unicode
 * table.
 */
function widthOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : Array.from(graphemes.segment(text)).length;
}
