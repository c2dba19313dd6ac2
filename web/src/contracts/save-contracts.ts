import { formatCsv } from '../csv.ts';
import { type FoundContract } from './find-contracts.ts';

const COLUMNS = [
  'chainId',
  'chainName',
  'address',
  'match',
  'name',
  'language',
  'compilerVersion',
  'origin',
  'trust',
  'verifiedAt',
] as const satisfies readonly (keyof FoundContract)[];

/** Formats the contracts as CSV with a header. */
export function saveAsCsv(contracts: readonly FoundContract[]): string {
  return formatCsv(
    COLUMNS,
    contracts.map((contract) => COLUMNS.map((column) => contract[column])),
  );
}

/** Formats the contracts as JSON with the same columns. */
export function saveAsJson(contracts: readonly FoundContract[]): string {
  const picked = contracts.map((contract) =>
    Object.fromEntries(COLUMNS.map((column) => [column, contract[column]])),
  );
  return `${JSON.stringify(picked, null, 2)}\n`;
}
