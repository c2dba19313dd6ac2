import { type FieldColumn, type FieldValue, timeOf } from '../tables/field-table.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': String.raw`\\`,
  '\b': String.raw`\b`,
  '\f': String.raw`\f`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
  '\v': String.raw`\v`,
};

/** A row in COPY text format (https://www.postgresql.org/docs/current/sql-copy.html), including the line end. */
export function copyLine(columns: readonly FieldColumn[], row: readonly FieldValue[]): string {
  return `${columns.map(({ type }, index) => copyValue(type, row[index] ?? null)).join('\t')}\n`;
}

function copyValue(type: FieldColumn['type'], value: FieldValue): string {
  if (value === null) return String.raw`\N`;
  if (Buffer.isBuffer(value)) return String.raw`\\x` + value.toString('hex');
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (type === 'timestamp') return timeOf(value);

  return value.replaceAll(/[\\\b\f\n\r\t\v]/g, (letter) => ESCAPES[letter] ?? letter);
}
