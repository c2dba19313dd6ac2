import { sql, type Queryable } from '../../store/database.ts';
import {
  type ListQuery,
  SUMMARY_COLUMNS,
  SUMMARY_EVIDENCE,
  type SummaryPage,
  type SummaryRow,
  toPage,
} from '../matches/contract-summary.ts';
import { type Match, type Origin, type Trust, TRUSTS } from '../matches/verified-contract.ts';
import { firstRows } from './first-rows.ts';

const MATCHES: readonly Match[] = ['full', 'partial'];
/** Every origin with every trust that occurs with it. */
const CHECKS: readonly (readonly [Origin, Trust])[] = [
  ['verified', 'verified'],
  ['monitored', 'verified'],
  ['imported', 'claimed'],
  ['imported', 'rechecked'],
  ['imported', 'recompiled'],
];
/** The largest bigint of PostgreSQL: before the first contract. */
const LAST_MATCH_ID = '9223372036854775807';

// Each combination of match, origin and trust is one index scan from the newest end, so that a rare
// combination costs no more than a frequent one. The condition compares rows instead of columns: only one
// index has that order, whereas equal columns might be read from another one that includes non-matching rows.
const listNewest = (label: string, columns: string, wanted: string) => {
  const newest = firstRows(
    `SELECT * FROM current_matches
         WHERE (${columns}) >= (${wanted}) AND (${columns}, verified_contract_id) < (${wanted}, $4)`,
    `${columns.replaceAll(',', ' DESC,')} DESC, verified_contract_id DESC`,
    '$5',
  );
  const found = firstRows(
    `SELECT newest.* FROM unnest($1::match[]) AS wanted_match,
       unnest($2::match_origin[], $3::match_trust[]) AS wanted (wanted_origin, wanted_trust)
     CROSS JOIN LATERAL (${newest}) AS newest`,
    'verified_contract_id DESC',
    '$5',
  );
  return sql(
    label,
    `SELECT ${SUMMARY_COLUMNS} FROM (${found}) AS found
   ${SUMMARY_EVIDENCE}
   ORDER BY found.verified_contract_id DESC`,
    'once',
  );
};
const LIST_NEWEST = listNewest(
  'list newest contracts',
  'match, origin, trust',
  'wanted_match, wanted_origin, wanted_trust',
);
const LIST_NEWEST_OF_CHAIN = listNewest(
  'list newest contracts of chain',
  'chain_id, match, origin, trust',
  '$6::bigint, wanted_match, wanted_origin, wanted_trust',
);

/**
 * Lists contracts by the time of their current match, newest first. Later matches sort before the first page,
 * so that no page repeats a contract of the previous one.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function listNewestContracts(
  database: Queryable,
  { chainId, match, origin, trust = 'claimed', limit, after }: ListQuery,
): Promise<SummaryPage> {
  const least = TRUSTS.indexOf(trust);
  const checks = CHECKS.filter(
    (check) => (origin ?? check[0]) === check[0] && TRUSTS.indexOf(check[1]) >= least,
  );
  const values = [
    match === undefined ? MATCHES : [match],
    checks.map((check) => check[0]),
    checks.map((check) => check[1]),
    after ?? LAST_MATCH_ID,
    limit + 1,
  ];
  const rows =
    chainId === undefined
      ? await database.query<SummaryRow>(LIST_NEWEST, values)
      : await database.query<SummaryRow>(LIST_NEWEST_OF_CHAIN, [...values, chainId]);
  return toPage(rows, limit, ({ verified_contract_id }) => verified_contract_id);
}
