import { sql, type Queryable } from '../../store/database.ts';
import {
  type ContractMatch,
  MATCH_COLUMNS,
  type MatchRow,
  toContractMatch,
} from '../matches/contract-match.ts';

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

/** Which contracts of a chain, from where, and how many. */
export interface ContractPage {
  readonly order: 'ascending' | 'descending';
  readonly limit: number;
  /** The match id after which the page begins, in the order of the list; absent on the first page. */
  readonly afterMatchId?: string;
}

/**
 * The contracts of a chain in the order of their match ids, one page. A contract whose match has no id is in no page.
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
