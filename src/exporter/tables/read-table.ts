import { type Queryable, sql } from '../../store/database.ts';
import { type FieldRow, type FieldTable, type FieldValue, microsOf } from './field-table.ts';

/** Scope of an export: one chain, or what changed since an earlier export. */
export interface ExportScope {
  readonly chainId?: number;
  readonly since?: EarlierExport;
  /** Without `since`: adds withdrawn contracts, which files of an earlier export may list as verified. */
  readonly hasWithdrawn?: boolean;
}

/** End of the earlier export. */
export interface EarlierExport {
  readonly feedPosition: string;
  /** Time of the earlier export. Evidence other than the current match's emits no event. */
  readonly at: Date;
}

/** Key of a row and its position in the row order. */
export interface RowKey {
  /** Microseconds since 1970, as text. */
  readonly at: string;
  readonly key: string;
  readonly lookup?: string;
  /** Time of the last change, for tables whose rows change. */
  readonly version?: string;
}

const KEYS_AT_ONCE = 5_000;
const DIGITS = /^\d{1,19}$/;
/** Evidence other than the current match's has the time of its transaction, which may commit after a later export. */
const LONGEST_TRANSACTION = `interval '1 day'`;

/**
 * Common table expressions in front of each key query: `places`, and `scope` with all evidence of their
 * matches, current or not.
 */
function scopeOf({ chainId, since, hasWithdrawn = false }: ExportScope): string {
  if (chainId !== undefined && !Number.isSafeInteger(chainId)) {
    throw new TypeError(`${chainId} is not a chain id`);
  }
  const ofChain = chainId === undefined ? '' : ` AND chain_id = ${chainId}`;
  const withdrawn = hasWithdrawn
    ? ` UNION SELECT chain_id, address FROM match_events WHERE kind = 'withdrawn'${ofChain}`
    : '';
  const places =
    since === undefined
      ? `SELECT chain_id, address FROM current_matches WHERE true${ofChain}${withdrawn}`
      : changedPlaces(since, ofChain);
  return `WITH places AS (${places}), evidence AS (
    SELECT chain_id, address, verified_contract_id, updated_at FROM current_matches WHERE verified_contract_id IS NOT NULL
    UNION ALL SELECT chain_id, address, verified_contract_id, NULL FROM alternative_matches
    UNION ALL SELECT chain_id, address, verified_contract_id, NULL FROM claimed_evidence
  ), scope AS (
    SELECT evidence.updated_at AS shown_at, verified_contract_id, compilation_id, deployment_id,
      coalesce(contract_id, claimed_contract_id) AS contract_id
    FROM places JOIN evidence USING (chain_id, address)
    JOIN verified_contracts AS verified ON verified.id = verified_contract_id
    JOIN contract_deployments AS deployment ON deployment.id = deployment_id)`;
}

function changedPlaces({ feedPosition, at }: EarlierExport, ofChain: string): string {
  if (!DIGITS.test(feedPosition)) throw new TypeError(`${feedPosition} is not a position`);
  const recently = `recorded_at > '${at.toISOString()}'::timestamptz - ${LONGEST_TRANSACTION}${ofChain}`;
  return `SELECT chain_id, address FROM feed JOIN match_events ON match_events.id = event_id
      WHERE position > ${feedPosition} AND address IS NOT NULL${ofChain}
    UNION SELECT chain_id, address FROM alternative_matches WHERE ${recently}
    UNION SELECT chain_id, address FROM claimed_evidence WHERE ${recently}`;
}

/** Yields the keys of a table's rows in order, several thousand at a time. The reader is in a transaction. */
export async function* readKeys(
  reader: Queryable,
  table: FieldTable,
  scope: ExportScope,
): AsyncGenerator<readonly RowKey[], void, undefined> {
  const more = [
    ...(table.lookup === undefined ? [] : ['lookup::text AS lookup']),
    ...(table.changes === undefined ? [] : [`${microsOf('version')}::text AS version`]),
  ];
  const selected = [`${microsOf('at')}::text AS at`, `${table.keyText} AS key`, ...more];
  await reader.query(
    sql(
      'export: list rows',
      `DECLARE exported NO SCROLL CURSOR FOR ${scopeOf(scope)}
       SELECT ${selected.join(', ')} FROM (${table.keys}) AS listed (at, key${table.lookup === undefined ? '' : ', lookup'}${table.changes === undefined ? '' : ', version'})
       ORDER BY listed.at, listed.key`,
    ),
  );
  const fetch = sql('export: list more rows', `FETCH ${KEYS_AT_ONCE} FROM exported`);
  try {
    for (;;) {
      const keys = await reader.query<RowKey>(fetch);
      if (keys.length > 0) yield keys;
      if (keys.length < KEYS_AT_ONCE) return;
    }
  } finally {
    await reader.query(sql('export: end list of rows', 'CLOSE exported')).catch(() => undefined);
  }
}

/** Returns the rows of the keys in order, without rows that no longer exist. */
export async function readRows(
  reader: Queryable,
  table: FieldTable,
  keys: readonly RowKey[],
): Promise<readonly { readonly key: RowKey; readonly row: FieldRow }[]> {
  const selected = table.columns.map(({ value }, index) => `${value} AS c${index}`);
  const rows = await reader.query<Record<string, never>>(
    sql(
      'export: read rows',
      `SELECT place::int AS place, ${selected.join(', ')}
       FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS wanted (key, at, lookup, place)
       ${table.from} ORDER BY place`,
    ),
    [
      keys.map(({ key }) => key),
      keys.map(({ at }) => at),
      keys.map(({ lookup }) => lookup ?? null),
    ],
  );
  return rows.flatMap((row) => {
    const key = keys[Number(row['place']) - 1];
    if (key === undefined) return [];
    const values = table.columns.map(({ finish }, index): FieldValue => {
      const value: FieldValue = row[`c${index}`] ?? null;
      return finish === undefined ? value : finish(value);
    });
    return [{ key, row: values }];
  });
}
