import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { SHOWN_NAME, SUMMARY_EVIDENCE } from './contract-summary.ts';

const FIND_NAMES = sql(
  'find names of contracts',
  `SELECT found.address, ${SHOWN_NAME} AS name FROM current_matches AS found ${SUMMARY_EVIDENCE}
   WHERE found.chain_id = $1 AND found.address = ANY ($2::bytea[])`,
);

/**
 * Names of those of the addresses (lower-case hex) that have a match on a chain.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function findNames(
  database: Queryable,
  chainId: number,
  addresses: readonly Hex[],
): Promise<ReadonlyMap<Hex, string>> {
  const values = [chainId, addresses.map(hexToBytes)];
  const rows = await database.query<{ address: Buffer; name: string }>(FIND_NAMES, values);
  return new Map(rows.map(({ address, name }) => [bytesToHex(address), name]));
}
