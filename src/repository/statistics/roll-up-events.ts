import { sql, type Queryable } from '../../store/database.ts';
import { COUNT_COLUMNS } from './statistics-overview.ts';

const COUNTS = COUNT_COLUMNS.join(', ');
const SUMS = COUNT_COLUMNS.map((column) => `sum(${column})`).join(', ');
/** Adds the counts of a conflicting row to those of the table. */
const addTo = (table: string): string =>
  COUNT_COLUMNS.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ');

const ROLL_UP_CHAINS = sql(
  'roll up chains',
  `WITH event AS (
     SELECT event_changes.*, runtime_code_hash
     FROM event_changes
     LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
     LEFT JOIN contract_deployments ON contract_deployments.id = deployment_id
     LEFT JOIN contracts ON contracts.id = contract_id
     WHERE event_changes.id = ANY ($1::bigint[])
   ), fresh AS (
     INSERT INTO verified_codes (code_hash, chain_id)
     SELECT DISTINCT ON (runtime_code_hash) runtime_code_hash, chain_id FROM event
     WHERE kind <> 'withdrawn' AND runtime_code_hash IS NOT NULL ORDER BY runtime_code_hash, id
     ON CONFLICT DO NOTHING RETURNING chain_id
   )
   INSERT INTO chain_activity AS activity
     (chain_id, events, codes, first_verified_at, last_verified_at, ${COUNTS})
   SELECT chain_id, count(*), (SELECT count(*) FROM fresh WHERE fresh.chain_id = event.chain_id),
     min(recorded_at) FILTER (WHERE kind <> 'withdrawn'), max(recorded_at) FILTER (WHERE kind <> 'withdrawn'),
     ${SUMS}
   FROM event GROUP BY chain_id ORDER BY chain_id
   ON CONFLICT (chain_id) DO UPDATE SET
     events = activity.events + excluded.events, codes = activity.codes + excluded.codes,
     first_verified_at = least(activity.first_verified_at, excluded.first_verified_at),
     last_verified_at = greatest(activity.last_verified_at, excluded.last_verified_at),
     ${addTo('activity')}`,
);

function addToTotals(table: string, time: string, which = ''): string {
  return `INSERT INTO ${table} AS totals (${time}, ${COUNTS})
     SELECT ${time}, ${SUMS} FROM event ${which} GROUP BY ${time}
     ON CONFLICT (${time}) DO UPDATE SET ${addTo('totals')}`;
}

// The state before the event is subtracted from the counts of its compiler, the state after it is added.
const ROLL_UP_COUNTS = sql(
  'roll up counts',
  `WITH event AS MATERIALIZED (SELECT * FROM event_changes WHERE id = ANY ($1::bigint[])),
   daily_total AS (
     ${addToTotals('daily_totals', 'day')}
   ), outdated AS (
     DELETE FROM hourly_totals WHERE hour < now() - interval '9 days'
   ), hourly_total AS (
     ${addToTotals('hourly_totals', 'hour', `WHERE hour >= now() - interval '9 days'`)}
   ), daily AS (
     INSERT INTO daily_counts AS counts (chain_id, day, ${COUNTS})
     SELECT chain_id, day, ${SUMS} FROM event GROUP BY chain_id, day
     ON CONFLICT (chain_id, day) DO UPDATE SET ${addTo('counts')}
   ), withdrawals AS (
     INSERT INTO daily_falls AS withdrawals (chain_id, day, reason, ${COUNTS})
     SELECT chain_id, day, reason, ${SUMS} FROM event
     WHERE kind = 'withdrawn' GROUP BY chain_id, day, reason
     ON CONFLICT (day, chain_id, reason_hash) DO UPDATE SET ${addTo('withdrawals')}
   ), side AS (
     SELECT chain_id, origin, trust, verified_contract_id, match_after AS match, 1 AS sign FROM event WHERE match_after IS NOT NULL
     UNION ALL
     SELECT event.chain_id, before.origin, before.trust, before.verified_contract_id, before.match_after, -1
     FROM event CROSS JOIN LATERAL (
       SELECT origin, trust_of_event(trust, origin) AS trust, verified_contract_id, match_after FROM match_events
       WHERE chain_id = event.chain_id AND address = event.address AND id < event.id AND kind <> 'corrected'
       ORDER BY id DESC LIMIT 1
     ) AS before
     WHERE event.kind <> 'stored' AND before.match_after IS NOT NULL
   )
   INSERT INTO compiler_counts AS counts (chain_id, origin, trust, language, version, full_match, partial_match)
   SELECT chain_id, origin, trust, coalesce(language, 'unknown'), coalesce(version, 'unknown'),
     coalesce(sum(sign) FILTER (WHERE match = 'full'), 0), coalesce(sum(sign) FILTER (WHERE match = 'partial'), 0)
   FROM side
   LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   GROUP BY 1, 2, 3, 4, 5
   ON CONFLICT (chain_id, origin, trust, language, version) DO UPDATE SET
     full_match = counts.full_match + excluded.full_match,
     partial_match = counts.partial_match + excluded.partial_match`,
);

/**
 * Adds events to the statistics over time: activity, counts and bytecodes of chains, counts by day, totals by
 * day and hour, withdrawals with their reasons, counts by compiler, origin and trust. A follower of the feed.
 */
export async function rollUpEvents(
  transaction: Queryable,
  eventNumbers: readonly string[],
): Promise<void> {
  await transaction.query(ROLL_UP_CHAINS, [eventNumbers]);
  await transaction.query(ROLL_UP_COUNTS, [eventNumbers]);
}
