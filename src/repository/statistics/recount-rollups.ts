import { sql, type Queryable, type Statement } from '../../store/database.ts';
import { COUNT_COLUMNS } from './statistics-overview.ts';

/** A table of statistics over time, and the view with what the events up to its position give. */
interface Rollup {
  readonly table: string;
  /** The view; it has the columns of keys and values, with the names of the table. */
  readonly view: string;
  /** The first is the chain's id, unless the table covers all chains. */
  readonly keys: readonly string[];
  readonly values: readonly string[];
  /** Selects the rows of the table to compare, if not all. */
  readonly which?: string;
}

const COUNTS = ['full_match', 'partial_match'] as const;
// Activity counts bytecodes, which are restored before.
const ROLLUPS: readonly Rollup[] = [
  {
    table: 'chain_activity',
    view: 'expected_activity',
    keys: ['chain_id'],
    values: ['events', 'codes', 'first_verified_at', 'last_verified_at', ...COUNT_COLUMNS],
  },
  {
    table: 'daily_counts',
    view: 'expected_daily_counts',
    keys: ['chain_id', 'day'],
    values: COUNT_COLUMNS,
  },
  {
    table: 'daily_totals',
    view: 'expected_daily_totals',
    keys: ['day'],
    values: COUNT_COLUMNS,
  },
  {
    table: 'hourly_totals',
    view: 'expected_hourly_totals',
    keys: ['hour'],
    values: COUNT_COLUMNS,
    // Older ones are not kept longer than needed.
    which: `WHERE hour >= date_trunc('hour', now()) - interval '8 days'`,
  },
  {
    table: 'daily_falls',
    view: 'expected_daily_falls',
    keys: ['chain_id', 'day', 'reason'],
    values: COUNT_COLUMNS,
  },
  {
    table: 'compiler_counts',
    view: 'expected_compiler_counts',
    keys: ['chain_id', 'origin', 'trust', 'language', 'version'],
    values: COUNTS,
  },
];

/** A missing row and one with zero counts are equal. */
function comparison({ table, view, keys, values, which = '' }: Rollup): string {
  const same = values
    .map((value) =>
      value.endsWith('_at')
        ? `stored.${value} IS NOT DISTINCT FROM expected.${value}`
        : `coalesce(stored.${value}, 0) = coalesce(expected.${value}, 0)`,
    )
    .join(' AND ');
  const isOfChain = keys[0] === 'chain_id';
  const shownKeys = isOfChain ? keys.slice(1) : keys;
  const show = (side: string): string =>
    `format('${table}${' %s'.repeat(shownKeys.length)}:${' %s'.repeat(values.length)}', ${[
      ...shownKeys,
      ...values.map((value) => `coalesce(${side}.${value}::text, 'none')`),
    ].join(', ')})`;
  return `SELECT ${isOfChain ? 'chain_id' : '0::bigint'} AS chain_id, ${show('stored')} AS stored, ${show('expected')} AS expected
   FROM (SELECT * FROM ${table} ${which}) AS stored
   FULL JOIN ${view} AS expected USING (${keys.join(', ')})
   WHERE NOT (${same})`;
}

/** In one statement, hence on one snapshot, so that it is correct while others write. */
const COMPARE_ROLLUPS = sql(
  'compare rollups',
  `${ROLLUPS.map(comparison).join('\n   UNION ALL\n   ')}
   UNION ALL
   SELECT coalesce(stored.chain_id, 0), coalesce('code ' || stored.code_hash::text, 'code absent'),
     coalesce('code ' || expected.code_hash::text, 'code absent')
   FROM verified_codes AS stored FULL JOIN expected_codes AS expected USING (code_hash)
   WHERE stored.code_hash IS NULL OR expected.code_hash IS NULL
   UNION ALL
   SELECT 0, 'name absent', format('name %s of %s', ending, compilation_id) FROM (
     SELECT compilation_id, ending FROM expected_names EXCEPT SELECT compilation_id, ending FROM contract_names
   ) AS missing
   ORDER BY chain_id, stored, expected`,
);

const EMPTY_CODES = sql('empty verified codes', 'DELETE FROM verified_codes');
const RESTORE_CODES = sql(
  'restore verified codes',
  `INSERT INTO verified_codes (code_hash, chain_id)
   SELECT DISTINCT ON (runtime_code_hash) runtime_code_hash, counted_changes.chain_id
   FROM counted_changes
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   JOIN contracts ON contracts.id = contract_id
   WHERE kind <> 'withdrawn' AND runtime_code_hash IS NOT NULL ORDER BY runtime_code_hash, counted_changes.id`,
);
const RESTORE_NAMES = sql(
  'restore names',
  `INSERT INTO contract_names (compilation_id, ending) SELECT compilation_id, ending FROM expected_names
   ON CONFLICT DO NOTHING`,
);
const RESTORE_STATEMENTS: readonly Statement[] = [
  EMPTY_CODES,
  RESTORE_CODES,
  RESTORE_NAMES,
  ...ROLLUPS.flatMap(({ table, view, keys, values }) => {
    const columns = [...keys, ...values].join(', ');
    return [
      sql(`empty ${table}`, `DELETE FROM ${table}`),
      sql(`restore ${table}`, `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${view}`),
    ];
  }),
];

/** Differences between a table that follows the feed and the events up to its position, as text for people. */
export interface RollupDifference {
  readonly chainId: number;
  readonly stored: string;
  readonly expected: string;
}

/** Differences of the statistics over time and the names from the events up to their positions. */
export async function compareRollups(database: Queryable): Promise<readonly RollupDifference[]> {
  const rows = await database.query<{ chain_id: string; stored: string; expected: string }>(
    COMPARE_ROLLUPS,
  );
  return rows.map(({ chain_id, stored, expected }) => ({
    chainId: Number(chain_id),
    stored,
    expected,
  }));
}

/** Rebuilds the statistics over time and the names as of their positions; the caller holds the lock of followers. */
export async function restoreRollups(transaction: Queryable): Promise<void> {
  for (const statement of RESTORE_STATEMENTS) await transaction.query(statement);
}
