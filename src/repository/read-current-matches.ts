import { bytesToHex, hexToBytes, type Hex } from '../lib/hex.ts';
import { sql, type Queryable } from '../store/database.ts';
import { type Match } from './verified-contract.ts';

const READ_CURRENT = sql(
  'read current matches',
  `SELECT address, match FROM current_matches WHERE chain_id = $1 AND address = ANY ($2::bytea[])`,
);

/** The current match of each of the addresses (lower-case hex) that has one on the chain. */
export async function readCurrentMatches(
  database: Queryable,
  chainId: number,
  addresses: readonly Hex[],
): Promise<Map<Hex, Match>> {
  const rows = await database.query<{ address: Buffer; match: Match }>(READ_CURRENT, [
    chainId,
    addresses.map(hexToBytes),
  ]);
  return new Map(rows.map((row) => [bytesToHex(row.address), row.match]));
}
