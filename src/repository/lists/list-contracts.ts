import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import {
  type ContractMatch,
  MATCH_COLUMNS,
  type MatchRow,
  toContractMatch,
} from '../matches/contract-match.ts';
import { type Match } from '../matches/verified-contract.ts';

const LIST_ASCENDING = sql(
  'list contracts ascending',
  `SELECT ${MATCH_COLUMNS} FROM current_matches
   WHERE chain_id = $1 AND verified_contract_id > $2
   ORDER BY verified_contract_id LIMIT $3`,
);
const LIST_DESCENDING = sql(
  'list contracts descending',
  `SELECT ${MATCH_COLUMNS} FROM current_matches
   WHERE chain_id = $1 AND verified_contract_id < $2
   ORDER BY verified_contract_id DESC LIMIT $3`,
);
/** The largest bigint of PostgreSQL: before the first page of a descending list. */
const LAST_MATCH_ID = '9223372036854775807';

/** Filter, cursor and page size of a chain's contract list. */
export interface ContractPage {
  readonly order: 'ascending' | 'descending';
  readonly limit: number;
  /** Match id after which the page begins, in list order; absent on the first page. */
  readonly afterMatchId?: string;
}

/**
 * A page of a chain's contracts by match id. Contracts whose match has no id are never listed.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function listContracts(
  database: Queryable,
  chainId: number,
  { order, limit, afterMatchId }: ContractPage,
): Promise<readonly ContractMatch[]> {
  const [statement, first] =
    order === 'ascending' ? [LIST_ASCENDING, '0'] : [LIST_DESCENDING, LAST_MATCH_ID];
  const after = afterMatchId ?? first;
  const rows = await database.query<MatchRow>(statement, [chainId, after, limit]);
  return rows.map(toContractMatch);
}

// Skips the contracts before the page one by one in index order.
const NUMBERED_PAGE = `SELECT address FROM current_matches
   WHERE chain_id = $1 AND verified_contract_id IS NOT NULL AND match = ANY($2::match[])`;
const ADDRESSES_ASCENDING = sql(
  'list addresses ascending',
  `${NUMBERED_PAGE} ORDER BY verified_contract_id OFFSET $3 LIMIT $4`,
);
const ADDRESSES_DESCENDING = sql(
  'list addresses descending',
  `${NUMBERED_PAGE} ORDER BY verified_contract_id DESC OFFSET $3 LIMIT $4`,
);
const READ_COUNTS_OF_CHAIN = sql(
  'read counts of a chain',
  'SELECT full_match, partial_match FROM chain_counts WHERE chain_id = $1',
);

/** A page of addresses by page number. Its cost grows with `offset`, which the caller must limit. */
export interface AddressPage extends Pick<ContractPage, 'order' | 'limit'> {
  readonly matches: readonly Match[];
  /** Number of contracts before the page. */
  readonly offset: number;
}

/**
 * Addresses of a chain's contracts with any of the given matches, by match id, and their total number.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function listAddresses(
  database: Queryable,
  chainId: number,
  { matches, order, offset, limit }: AddressPage,
): Promise<{ readonly addresses: readonly Hex[]; readonly total: number }> {
  const statement = order === 'ascending' ? ADDRESSES_ASCENDING : ADDRESSES_DESCENDING;
  const page = [chainId, matches, offset, limit];
  const rows = await database.query<{ address: Buffer }>(statement, page);
  const [counts] = await database.query<{ full_match: string; partial_match: string }>(
    READ_COUNTS_OF_CHAIN,
    [chainId],
  );
  const totals = { full: counts?.full_match, partial: counts?.partial_match };
  return {
    addresses: rows.map(({ address }) => bytesToHex(address)),
    total: matches.reduce((sum, match) => sum + Number(totals[match] ?? 0), 0),
  };
}
