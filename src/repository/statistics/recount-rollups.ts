import { sql, type Queryable, type Statement } from '../../store/database.ts';

/** A table of statistics over time, beside the view that says what the events give for it. */
interface Rollup {
  readonly table: string;
  /** The view; it has the columns of keys and values, with the names of the table. */
  readonly view: string;
  /** The first is the chain's id, or slot 0, which stands for all chains. */
  readonly keys: readonly string[];
  readonly values: readonly string[];
  /** What of the table is compared, where it is not every row by itself. */
  readonly stored?: string;
}

const COUNTS = ['full_match', 'partial_match'] as const;
// Activity comes first: its row is the lock of a chain.
const ROLLUPS: readonly Rollup[] = [
  {
    table: 'chain_activity',
    view: 'expected_activity',
    keys: ['chain_id'],
    values: ['events', 'codes', 'first_verified_at', 'last_verified_at'],
  },
  {
    table: 'daily_counts',
    view: 'expected_daily_counts',
    keys: ['chain_id', 'day'],
    values: COUNTS,
  },
  {
    table: 'daily_totals',
    view: 'expected_daily_totals',
    keys: ['slot', 'day'],
    values: COUNTS,
    stored: sumOfSlots('daily_totals', 'day'),
  },
  {
    table: 'hourly_totals',
    view: 'expected_hourly_totals',
    keys: ['slot', 'hour'],
    values: COUNTS,
    // Older ones are kept no longer than they are needed.
    stored: sumOfSlots('hourly_totals', 'hour', `date_trunc('hour', now()) - interval '8 days'`),
  },
  {
    table: 'daily_falls',
    view: 'expected_daily_falls',
    keys: ['chain_id', 'day', 'reason'],
    values: COUNTS,
  },
  {
    table: 'compiler_counts',
    view: 'expected_compiler_counts',
    keys: ['chain_id', 'origin', 'language', 'version'],
    values: COUNTS,
  },
];

function sumOfSlots(table: string, time: string, since = `'-infinity'`): string {
  return `SELECT 0 AS slot, ${time}, sum(full_match) AS full_match, sum(partial_match) AS partial_match
   FROM ${table} WHERE ${time} >= ${since} GROUP BY ${time}`;
}

/** A row that is absent and one without any count say the same. */
function comparison({ table, view, keys, values, stored = `TABLE ${table}` }: Rollup): string {
  const same = values
    .map((value) =>
      value.endsWith('_at')
        ? `stored.${value} IS NOT DISTINCT FROM expected.${value}`
        : `coalesce(stored.${value}, 0) = coalesce(expected.${value}, 0)`,
    )
    .join(' AND ');
  const show = (side: string): string =>
    `format('${table}${' %s'.repeat(keys.length - 1)}:${' %s'.repeat(values.length)}', ${[
      ...keys.slice(1),
      ...values.map((value) => `coalesce(${side}.${value}::text, 'none')`),
    ].join(', ')})`;
  return `SELECT ${keys[0]}::bigint AS chain_id, ${show('stored')} AS stored, ${show('expected')} AS expected
   FROM (${stored}) AS stored
   FULL JOIN ${view} AS expected USING (${keys.join(', ')})
   WHERE NOT (${same})`;
}

/** In one statement, hence on one snapshot, so that it is right while others write. */
const COMPARE_ROLLUPS = sql(
  'compare rollups',
  `${ROLLUPS.map(comparison).join('\n   UNION ALL\n   ')}
   UNION ALL
   SELECT coalesce(stored.chain_id, 0), coalesce('code ' || stored.code_hash::text, 'code absent'),
     coalesce('code ' || expected.code_hash::text, 'code absent')
   FROM verified_codes AS stored FULL JOIN expected_codes AS expected USING (code_hash)
   WHERE stored.code_hash IS NULL OR expected.code_hash IS NULL
   ORDER BY chain_id, stored, expected`,
);

const EMPTY_CODES = sql('empty verified codes', 'DELETE FROM verified_codes');
const RESTORE_CODES = sql(
  'restore verified codes',
  `INSERT INTO verified_codes (code_hash, chain_id)
   SELECT DISTINCT ON (runtime_code_hash) runtime_code_hash, event_changes.chain_id
   FROM event_changes
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   JOIN contracts ON contracts.id = contract_id
   WHERE kind <> 'withdrawn' AND runtime_code_hash IS NOT NULL ORDER BY runtime_code_hash, event_changes.id`,
);
const RESTORE_STATEMENTS: readonly Statement[] = [
  EMPTY_CODES,
  RESTORE_CODES,
  ...ROLLUPS.flatMap(({ table, view, keys, values }) => {
    const columns = [...keys, ...values].join(', ');
    return [
      sql(`empty ${table}`, `DELETE FROM ${table}`),
      sql(`restore ${table}`, `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${view}`),
    ];
  }),
];

/** Where a table of statistics over time is not what the event log gives, in texts for people. */
export interface RollupDifference {
  readonly chainId: number;
  readonly stored: string;
  readonly expected: string;
}

/** Where the statistics over time are not what the event log gives. */
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

/** Makes the statistics over time anew from the event log; the caller holds the lock on chain_activity. */
export async function restoreRollups(transaction: Queryable): Promise<void> {
  for (const statement of RESTORE_STATEMENTS) await transaction.query(statement);
}
