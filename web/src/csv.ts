/** A cell of a table of values. */
export type Cell = string | number | boolean | null | undefined;

/**
 * Formats a table as CSV (RFC 4180): lines end with CR LF, and a cell with a comma, a quote or a line break
 * is quoted. Spreadsheets run text that begins like a formula, so such text gets a leading apostrophe.
 */
export function formatCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => `${row.map(formatCell).join(',')}\r\n`).join('');
}

function formatCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
