import { formatCsv } from '../csv.ts';
import { type ChainRow } from './chain-query.ts';

const COLUMNS = [
  'chainId',
  'name',
  'shortName',
  'currency',
  'supported',
  'monitored',
  'testnet',
  'status',
  'full',
  'partial',
  'lastVerifiedAt',
  'health',
] as const satisfies readonly (keyof ChainRow)[];

/** Formats the rows as CSV with a header. The last column contains the warnings of a chain. */
export function saveAsCsv(rows: readonly ChainRow[]): string {
  return formatCsv(
    [...COLUMNS, 'warnings'],
    rows.map((row) => [...COLUMNS.map((column) => row[column]), row.warnings.join(' ')]),
  );
}

/** Formats the rows as JSON with the same columns. */
export function saveAsJson(rows: readonly ChainRow[]): string {
  const picked = rows.map((row) => ({
    ...Object.fromEntries(COLUMNS.map((column) => [column, row[column]])),
    warnings: row.warnings,
  }));
  return `${JSON.stringify(picked, null, 2)}\n`;
}
