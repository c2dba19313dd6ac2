import { sql, type Queryable } from '../../store/database.ts';
import {
  type ListQuestion,
  SUMMARY_COLUMNS,
  SUMMARY_EVIDENCE,
  type SummaryPage,
  type SummaryRow,
  toPage,
} from '../matches/contract-summary.ts';
import { type Match, type Origin } from '../matches/verified-contract.ts';

const MATCHES: readonly Match[] = ['full', 'partial'];
const ORIGINS: readonly Origin[] = ['verified', 'imported', 'monitored'];
/** The largest bigint of PostgreSQL: before the first contract. */
const LAST_MATCH_ID = '9223372036854775807';

// Each combination of match and origin is one scan of an index from its newest end, so that a combination that hardly
// occurs costs no more than a frequent one. Rows are compared and not columns: only one index has that order, whereas
// equal columns may be read by another one, with all that does not fit.
const listNewest = (label: string, columns: string, wanted: string) =>
  sql(
    label,
    `SELECT ${SUMMARY_COLUMNS}
   FROM (
     SELECT newest.* FROM unnest($1::match[]) AS wanted_match, unnest($2::match_origin[]) AS wanted_origin
     CROSS JOIN LATERAL (
       SELECT * FROM current_matches
       WHERE (${columns}) >= (${wanted}) AND (${columns}, verified_contract_id) < (${wanted}, $3)
       ORDER BY ${columns.replaceAll(',', ' DESC,')} DESC, verified_contract_id DESC LIMIT $4
     ) AS newest
     ORDER BY verified_contract_id DESC LIMIT $4
   ) AS found
   ${SUMMARY_EVIDENCE}
   ORDER BY found.verified_contract_id DESC`,
  );
const LIST_NEWEST = listNewest(
  'list newest contracts',
  'match, origin',
  'wanted_match, wanted_origin',
);
const LIST_NEWEST_OF_CHAIN = listNewest(
  'list newest contracts of chain',
  'chain_id, match, origin',
  '$5::bigint, wanted_match, wanted_origin',
);

/**
 * Contracts whose current match is newest first. Matches that come meanwhile stand before the first page, so that
 * no page shows a contract of the page before again.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function listNewestContracts(
  database: Queryable,
  { chainId, match, origin, limit, after }: ListQuestion,
): Promise<SummaryPage> {
  const values = [
    match === undefined ? MATCHES : [match],
    origin === undefined ? ORIGINS : [origin],
    after ?? LAST_MATCH_ID,
    limit + 1,
  ];
  const rows =
    chainId === undefined
      ? await database.query<SummaryRow>(LIST_NEWEST, values)
      : await database.query<SummaryRow>(LIST_NEWEST_OF_CHAIN, [...values, chainId]);
  return toPage(rows, limit, ({ verified_contract_id }) => verified_contract_id);
}
