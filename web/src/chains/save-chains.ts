import { formatCsv } from '../csv.ts';
import { type Api } from '../api.ts';
import { type ChainRecord } from '../answers.ts';
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
  'claimed',
  'lastVerifiedAt',
  'health',
] as const satisfies readonly (keyof ChainRow)[];

/** Public RPC URLs by chain id. */
export type PublicRpc = ReadonlyMap<number, readonly string[]>;

/** Reads the public RPC URLs that GET /chains publishes; it contains no private endpoint. */
export async function readPublicRpc(api: Api): Promise<PublicRpc> {
  const chains = await api.get<readonly Pick<ChainRecord, 'chainId' | 'rpc'>[]>('chains');
  if (chains.state === 'failed') throw new Error(chains.message);
  return new Map(chains.value.map(({ chainId, rpc }) => [chainId, rpc]));
}

/** Formats the rows as CSV with a header. The last columns contain the RPC URLs and warnings of a chain. */
export function saveAsCsv(rows: readonly ChainRow[], rpc: PublicRpc): string {
  return formatCsv(
    [...COLUMNS, 'rpc', 'warnings'],
    rows.map((row) => [
      ...COLUMNS.map((column) => row[column]),
      (rpc.get(row.chainId) ?? []).join(' '),
      row.warnings.join(' '),
    ]),
  );
}

/** Formats the rows as JSON with the same columns. */
export function saveAsJson(rows: readonly ChainRow[], rpc: PublicRpc): string {
  const picked = rows.map((row) => ({
    ...Object.fromEntries(COLUMNS.map((column) => [column, row[column]])),
    rpc: rpc.get(row.chainId) ?? [],
    warnings: row.warnings,
  }));
  return `${JSON.stringify(picked, null, 2)}\n`;
}
