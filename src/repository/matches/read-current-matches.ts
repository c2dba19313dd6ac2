import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type Match, type Origin } from './verified-contract.ts';

const READ_CURRENT = sql(
  'read current matches',
  `SELECT address, match, origin FROM current_matches WHERE chain_id = $1 AND address = ANY ($2::bytea[])`,
);

/** What an address has, and who judged it. */
export interface CurrentMatch {
  readonly match: Match;
  readonly origin: Origin;
}

/** The current match of each of the addresses (lower-case hex) that has one on the chain. */
export async function readCurrentMatches(
  database: Queryable,
  chainId: number,
  addresses: readonly Hex[],
): Promise<Map<Hex, CurrentMatch>> {
  const rows = await database.query<{ address: Buffer } & CurrentMatch>(READ_CURRENT, [
    chainId,
    addresses.map(hexToBytes),
  ]);
  return new Map(
    rows.map(({ address, match, origin }) => [bytesToHex(address), { match, origin }]),
  );
}
