import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import {
  type ContractMatch,
  MATCH_COLUMNS,
  type MatchRow,
  toContractMatch,
} from './contract-match.ts';

const FIND_ON_ALL_CHAINS = sql(
  'find contracts on all chains',
  `SELECT ${MATCH_COLUMNS} FROM current_matches WHERE address = ANY ($1::bytea[])
   ORDER BY address, chain_id`,
);
const FIND_ON_CHAINS = sql(
  'find contracts on chains',
  `SELECT ${MATCH_COLUMNS} FROM current_matches
   WHERE address = ANY ($1::bytea[]) AND chain_id = ANY ($2::bigint[])
   ORDER BY address, chain_id`,
);

/**
 * Matches of the addresses (lower-case hex) on the given chains or on all of them, by address and chain.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function findOnChains(
  database: Queryable,
  addresses: readonly Hex[],
  chainIds?: readonly number[],
): Promise<readonly ContractMatch[]> {
  const bytes = addresses.map(hexToBytes);
  const rows =
    chainIds === undefined
      ? await database.query<MatchRow>(FIND_ON_ALL_CHAINS, [bytes])
      : await database.query<MatchRow>(FIND_ON_CHAINS, [bytes, chainIds]);
  return rows.map(toContractMatch);
}
