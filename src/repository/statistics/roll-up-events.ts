import { ADVISORY_LOCKS } from '../../store/advisory-locks.ts';
import { sql, type Queryable } from '../../store/database.ts';

// It comes first: the row of a chain is the lock under which all other rows of the chain are written, taken in key
// order. Codes precede it, in key order too, as evidence does.
const ROLL_UP_CHAINS = sql(
  'roll up chains',
  `WITH event AS (
     SELECT match_events.id, match_events.chain_id, kind, recorded_at, runtime_code_hash
     FROM match_events
     LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
     LEFT JOIN contract_deployments ON contract_deployments.id = deployment_id
     LEFT JOIN contracts ON contracts.id = contract_id
     WHERE match_events.id = ANY ($1::bigint[])
   ), fresh AS (
     INSERT INTO verified_codes (code_hash, chain_id)
     SELECT DISTINCT ON (runtime_code_hash) runtime_code_hash, chain_id FROM event
     WHERE kind <> 'withdrawn' AND runtime_code_hash IS NOT NULL ORDER BY runtime_code_hash, id
     ON CONFLICT DO NOTHING RETURNING chain_id
   )
   INSERT INTO chain_activity AS activity (chain_id, events, codes, first_verified_at, last_verified_at)
   SELECT chain_id, count(*), (SELECT count(*) FROM fresh WHERE fresh.chain_id = event.chain_id),
     min(recorded_at) FILTER (WHERE kind <> 'withdrawn'), max(recorded_at) FILTER (WHERE kind <> 'withdrawn')
   FROM event GROUP BY chain_id ORDER BY chain_id
   ON CONFLICT (chain_id) DO UPDATE SET
     events = activity.events + excluded.events, codes = activity.codes + excluded.codes,
     first_verified_at = least(activity.first_verified_at, excluded.first_verified_at),
     last_verified_at = greatest(activity.last_verified_at, excluded.last_verified_at)`,
);

function addToTotals(table: string, time: string): string {
  return `INSERT INTO ${table} AS totals (${time}, slot, full_match, partial_match)
     SELECT ${time}, slot, sum(full_match), sum(partial_match) FROM event, held GROUP BY ${time}, slot ORDER BY ${time}
     ON CONFLICT (${time}, slot) DO UPDATE SET
       full_match = totals.full_match + excluded.full_match,
       partial_match = totals.partial_match + excluded.partial_match`;
}

// The totals are added to in the first slot that no other transaction holds, so that nobody waits for them. What the
// last event of the address left is taken from the counts of its compiler, what this one leaves is added.
const [LOCK_CLASS, FIRST_SLOT] = ADVISORY_LOCKS.totalsSlot;
const ROLL_UP_COUNTS = sql(
  'roll up counts',
  `WITH event AS MATERIALIZED (SELECT * FROM event_changes WHERE id = ANY ($1::bigint[])),
   held AS MATERIALIZED (
     SELECT coalesce((
       SELECT slot FROM generate_series(1, 31) AS slot
       WHERE pg_try_advisory_xact_lock(${LOCK_CLASS}, ${FIRST_SLOT} + slot) LIMIT 1
     ), 0) AS slot
   ), daily_total AS (
     ${addToTotals('daily_totals', 'day')}
   ), outdated AS (
     DELETE FROM hourly_totals USING held WHERE hourly_totals.slot = held.slot AND hour < now() - interval '9 days'
   ), hourly_total AS (
     ${addToTotals('hourly_totals', 'hour')}
   ), daily AS (
     INSERT INTO daily_counts AS counts (chain_id, day, full_match, partial_match)
     SELECT chain_id, day, sum(full_match), sum(partial_match) FROM event GROUP BY chain_id, day
     ON CONFLICT (chain_id, day) DO UPDATE SET
       full_match = counts.full_match + excluded.full_match,
       partial_match = counts.partial_match + excluded.partial_match
   ), falls AS (
     INSERT INTO daily_falls AS falls (chain_id, day, reason, full_match, partial_match)
     SELECT chain_id, day, reason, sum(full_match), sum(partial_match) FROM event
     WHERE kind = 'withdrawn' GROUP BY chain_id, day, reason
     ON CONFLICT (day, chain_id, reason_hash) DO UPDATE SET
       full_match = falls.full_match + excluded.full_match,
       partial_match = falls.partial_match + excluded.partial_match
   ), side AS (
     SELECT chain_id, origin, verified_contract_id, match_after AS match, 1 AS sign FROM event WHERE match_after IS NOT NULL
     UNION ALL
     SELECT event.chain_id, before.origin, before.verified_contract_id, before.match_after, -1
     FROM event CROSS JOIN LATERAL (
       SELECT origin, verified_contract_id, match_after FROM match_events
       WHERE chain_id = event.chain_id AND address = event.address AND id < event.id AND kind <> 'corrected'
       ORDER BY id DESC LIMIT 1
     ) AS before
     WHERE event.kind <> 'stored' AND before.match_after IS NOT NULL
   )
   INSERT INTO compiler_counts AS counts (chain_id, origin, language, version, full_match, partial_match)
   SELECT chain_id, origin, coalesce(language, 'unknown'), coalesce(version, 'unknown'),
     coalesce(sum(sign) FILTER (WHERE match = 'full'), 0), coalesce(sum(sign) FILTER (WHERE match = 'partial'), 0)
   FROM side
   LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   GROUP BY 1, 2, 3, 4
   ON CONFLICT (chain_id, origin, language, version) DO UPDATE SET
     full_match = counts.full_match + excluded.full_match,
     partial_match = counts.partial_match + excluded.partial_match`,
);

/**
 * Adds events to the statistics over time: activity and codes of chains, counts by day, totals by day and hour, falls with
 * their reasons, counts by compiler and origin. It runs in the transaction that records the events, and last there, since
 * every writer of a chain waits for its row until the commit.
 */
export async function rollUpEvents(
  transaction: Queryable,
  eventIds: readonly string[],
): Promise<void> {
  if (eventIds.length === 0) return;
  await transaction.query(ROLL_UP_CHAINS, [eventIds]);
  await transaction.query(ROLL_UP_COUNTS, [eventIds]);
}
