import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { lockUntilCommit } from '../../store/advisory-locks.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { notifyOfMatches } from '../matches/match-notifications.ts';
import { compareRollups, restoreRollups } from './recount-rollups.ts';

/**
 * A difference between stored numbers and the event log. `counts_against_events`: the counts of a chain
 * differ from its events. `counts_against_rows`: the counts of a chain differ from its current matches.
 * `row_against_events`: an address's current match differs from what its last event left.
 * `trust_against_events`: the trust of an address's current match differs from what its last event left.
 * `row_against_evidence`: an address's current match differs from its verified contract.
 * `rollup_against_events`: the statistics over time of a chain, or the name index, differ from the events up
 * to their position in the feed. `feed_against_events`: an event has no position in the feed, and is not
 * queued for one. `stored` and `expected` are text for people: `full 5, partial 1`, `runtime full, creation
 * none`.
 */
export interface CountDifference {
  readonly kind:
    | 'counts_against_events'
    | 'counts_against_rows'
    | 'row_against_events'
    | 'trust_against_events'
    | 'row_against_evidence'
    | 'rollup_against_events'
    | 'feed_against_events';
  readonly chainId: number;
  readonly address?: Hex;
  readonly stored: string;
  readonly expected: string;
}

/** Result of a recount. `repaired` tells whether rows and counts were repaired. */
export interface Recount {
  readonly chains: number;
  readonly contracts: number;
  readonly events: number;
  readonly differences: readonly CountDifference[];
  readonly repaired: boolean;
}

/**
 * The newest state of each contract by its events.
 * @param only joins that restrict the events
 */
const replay = (only = ''): string => `
  SELECT DISTINCT ON (chain_id, address) chain_id, address, match_after AS match, runtime_match, creation_match,
    match_before, origin, trust_of_event(trust, origin) AS trust, verified_contract_id, recorded_at
  FROM match_events ${only} WHERE kind <> 'corrected' ORDER BY chain_id, address, id DESC`;
const REPLAY = replay();
/** For a few contracts: $1 and $2 are their chains and addresses. */
const WRONG = `unnest($1::bigint[], $2::bytea[]) AS wrong (chain_id, address)`;
const REPLAY_WRONG = replay(`JOIN ${WRONG} USING (chain_id, address)`);
const COUNT = `count(*) FILTER (WHERE match = 'full') AS full_match, count(*) FILTER (WHERE match = 'partial') AS partial_match`;

/** All comparisons in one statement, hence on one snapshot, so that a recount is correct while others write. */
const COMPARE = sql(
  'compare counts',
  `WITH replayed AS MATERIALIZED (${REPLAY}),
   by_events AS (SELECT chain_id, ${COUNT} FROM replayed GROUP BY chain_id),
   by_rows AS (SELECT chain_id, ${COUNT} FROM current_matches GROUP BY chain_id),
   shown AS (
     SELECT chain_id, format('full %s, partial %s', full_match, partial_match) AS counts FROM chain_counts
   )
   SELECT 'counts_against_events' AS kind, chain_id, NULL::bytea AS address,
     coalesce(shown.counts, 'absent') AS stored,
     coalesce(format('full %s, partial %s', full_match, partial_match), 'absent') AS expected
   FROM shown FULL JOIN by_events USING (chain_id)
   WHERE shown.counts IS DISTINCT FROM format('full %s, partial %s', full_match, partial_match)
   UNION ALL
   SELECT 'counts_against_rows', chain_id, NULL, coalesce(shown.counts, 'absent'),
     format('full %s, partial %s', coalesce(full_match, 0), coalesce(partial_match, 0))
   FROM shown FULL JOIN by_rows USING (chain_id)
   WHERE shown.counts IS DISTINCT FROM format('full %s, partial %s', coalesce(full_match, 0), coalesce(partial_match, 0))
   UNION ALL
   SELECT 'row_against_events', chain_id, address,
     format('runtime %s, creation %s', coalesce(current.runtime_match::text, 'none'), coalesce(current.creation_match::text, 'none')),
     format('runtime %s, creation %s', coalesce(replayed.runtime_match::text, 'none'), coalesce(replayed.creation_match::text, 'none'))
   FROM current_matches AS current FULL JOIN replayed USING (chain_id, address)
   WHERE (current.runtime_match, current.creation_match) IS DISTINCT FROM (replayed.runtime_match, replayed.creation_match)
   UNION ALL
   SELECT 'trust_against_events', chain_id, address, current.trust::text, replayed.trust::text
   FROM current_matches AS current JOIN replayed USING (chain_id, address)
   WHERE replayed.match IS NOT NULL AND current.trust <> replayed.trust
   UNION ALL
   SELECT 'row_against_evidence', current.chain_id, current.address, current.match::text,
     coalesce(CASE WHEN verified.runtime_metadata_match OR verified.creation_metadata_match THEN 'full'
       WHEN verified.id IS NOT NULL THEN 'partial' END, 'absent')
   FROM current_matches AS current LEFT JOIN verified_contracts AS verified ON verified.id = current.verified_contract_id
   WHERE current.match::text IS DISTINCT FROM
     CASE WHEN verified.runtime_metadata_match OR verified.creation_metadata_match THEN 'full'
       WHEN verified.id IS NOT NULL THEN 'partial' END
   UNION ALL
   SELECT 'feed_against_events', chain_id, address, 'absent', format('event %s', id)
   FROM match_events AS event
   WHERE NOT EXISTS (SELECT FROM feed WHERE event_id = event.id)
     AND NOT EXISTS (SELECT FROM feed_queue WHERE event_id = event.id)
   ORDER BY chain_id, kind, address`,
);
const COUNT_ROWS = sql(
  'count rows',
  `SELECT (SELECT count(*) FROM chain_counts) AS chains, (SELECT count(*) FROM current_matches) AS contracts,
     (SELECT count(*) FROM match_events) AS events`,
);

// A recount of millions of contracts takes longer than any statement of a request may.
const LIFT_TIME_LIMIT = sql('lift time limit', `SET LOCAL statement_timeout = 0`);
/** A repair may be idle longer than other holders of the lock. */
const LIFT_REST_LIMIT = sql('lift rest limit', `SET LOCAL idle_in_transaction_session_timeout = 0`);

// In the order of writers, so that they never deadlock with a repair.
const LOCK_MATCHES = sql(
  'lock wrong matches',
  `SELECT FROM current_matches JOIN ${WRONG} USING (chain_id, address)
   ORDER BY chain_id, address FOR UPDATE OF current_matches`,
);
const DELETE_UNEXPLAINED = sql(
  'delete unexplained matches',
  `WITH replayed AS MATERIALIZED (${REPLAY_WRONG})
   DELETE FROM current_matches AS current USING ${WRONG}
   WHERE current.chain_id = wrong.chain_id AND current.address = wrong.address AND NOT EXISTS (
     SELECT FROM replayed WHERE replayed.chain_id = current.chain_id AND replayed.address = current.address
       AND replayed.match IS NOT NULL)`,
);
// Same as `textHash`. Metadata of an import lists every stored source, and only a compiler's is known to be
// text that PostgreSQL reads as JSON.
const HAS_UNLISTED_SOURCES = `json_typeof(metadata::json -> 'sources') = 'object' AND EXISTS (
        SELECT FROM compiled_contracts_sources WHERE compilation_id = compiled_contracts.id
          AND path NOT IN (SELECT json_object_keys(metadata::json -> 'sources')))`;
// A row that a writer inserts meanwhile is newer than these events, and stays.
const RESTORE_MATCHES = sql(
  'restore matches',
  `WITH replayed AS MATERIALIZED (${REPLAY_WRONG})
   INSERT INTO current_matches AS current
     (chain_id, address, runtime_match, creation_match, match_before, origin, verified_contract_id, first_matched_at, updated_at, runtime_code_hash, text_hash, trust)
   SELECT chain_id, address, runtime_match, creation_match, match_before, origin, verified_contract_id, recorded_at, recorded_at,
     (SELECT runtime_code_hash FROM verified_contracts
      JOIN contract_deployments ON contract_deployments.id = deployment_id
      JOIN contracts ON contracts.id = contract_id
      WHERE verified_contracts.id = replayed.verified_contract_id),
     (SELECT CASE WHEN metadata IS NULL OR (replayed.origin <> 'imported' AND ${HAS_UNLISTED_SOURCES})
        THEN sha256(convert_to(compiled_contracts.id::text, 'UTF8')) ELSE metadata_hash END
      FROM verified_contracts JOIN compiled_contracts ON compiled_contracts.id = compilation_id
      WHERE verified_contracts.id = replayed.verified_contract_id), trust
   FROM replayed WHERE match IS NOT NULL AND NOT EXISTS (
     SELECT FROM current_matches AS right_already
     WHERE (right_already.chain_id, right_already.address) = (replayed.chain_id, replayed.address)
       AND (right_already.runtime_match, right_already.creation_match, right_already.trust)
         IS NOT DISTINCT FROM (replayed.runtime_match, replayed.creation_match, replayed.trust))
   ON CONFLICT (chain_id, address) DO UPDATE SET
     runtime_match = excluded.runtime_match, creation_match = excluded.creation_match,
     match_before = excluded.match_before, origin = excluded.origin, trust = excluded.trust,
     verified_contract_id = excluded.verified_contract_id, runtime_code_hash = excluded.runtime_code_hash,
     text_hash = excluded.text_hash, updated_at = now()
   WHERE EXISTS (SELECT FROM current_matches AS locked
     WHERE locked.chain_id = current.chain_id AND locked.address = current.address)`,
);
// The difference between counts and events on one snapshot is the same after every later write, which adds to
// both.
const CORRECT_COUNTS = sql(
  'correct counts',
  `WITH replayed AS MATERIALIZED (${REPLAY}),
   by_events AS (SELECT chain_id, ${COUNT} FROM replayed GROUP BY chain_id),
   correction AS MATERIALIZED (
     SELECT chain_id, counts.chain_id IS NULL AS is_missing,
       coalesce(by_events.full_match, 0) - coalesce(counts.full_match, 0) AS full_match,
       coalesce(by_events.partial_match, 0) - coalesce(counts.partial_match, 0) AS partial_match
     FROM by_events FULL JOIN chain_counts AS counts USING (chain_id)
     WHERE (by_events.full_match, by_events.partial_match) IS DISTINCT FROM (counts.full_match, counts.partial_match)
   ), corrected AS (
     UPDATE chain_counts AS counts SET full_match = counts.full_match + correction.full_match,
       partial_match = counts.partial_match + correction.partial_match, updated_at = clock_timestamp()
     FROM correction WHERE NOT is_missing AND counts.chain_id = correction.chain_id
   )
   INSERT INTO chain_counts AS counts (chain_id, full_match, partial_match)
   SELECT chain_id, full_match, partial_match FROM correction WHERE is_missing
   ON CONFLICT (chain_id) DO UPDATE SET full_match = counts.full_match + excluded.full_match,
     partial_match = counts.partial_match + excluded.partial_match, updated_at = clock_timestamp()`,
);
const DELETE_UNEXPLAINED_COUNTS = sql(
  'delete unexplained counts',
  `DELETE FROM chain_counts AS counts WHERE full_match = 0 AND partial_match = 0 AND NOT EXISTS (
     SELECT FROM match_events WHERE match_events.chain_id = counts.chain_id AND kind <> 'corrected')`,
);
const QUEUE_EVENTS = sql(
  'queue events',
  `INSERT INTO feed_queue (event_id) SELECT id FROM match_events AS event
   WHERE NOT EXISTS (SELECT FROM feed WHERE event_id = event.id) ON CONFLICT DO NOTHING`,
);
const RECORD_CORRECTION = sql(
  'record correction',
  `INSERT INTO match_events (kind, chain_id, address, reason)
   SELECT 'corrected', chain_id, address, reason
   FROM unnest($1::bigint[], $2::bytea[], $3::text[]) AS row (chain_id, address, reason)`,
);

/** What a repair fixes: a row that differs from its evidence is left, since only a new verification can fix it. */
const isRepairable = ({ kind }: CountDifference): boolean => kind !== 'row_against_evidence';

/** Contracts that one transaction of a repair corrects: it holds their rows for some milliseconds. */
const CORRECTED_AT_ONCE = 200;

/**
 * Compares the counts with the events and with the rows, and the rows with the events and their evidence, on
 * one snapshot and without a lock. With `repair` it then sets rows and counts to what the event log gives and
 * records a correction for each difference, in short transactions: a store waits only while its own contract
 * is corrected, or the counts of its chain.
 */
export async function recount(
  database: Database,
  { repair }: { repair: boolean },
): Promise<Recount> {
  const compared = await database.transaction(async (transaction) => {
    await transaction.query(LIFT_TIME_LIMIT);
    return { ...(await compare(transaction)), repaired: false };
  });
  const repairable = compared.differences.filter(isRepairable);
  if (!repair || repairable.length === 0) return compared;
  const ofContracts = ofKinds(repairable, CONTRACT_KINDS);
  for (let begin = 0; begin < ofContracts.length; begin += CORRECTED_AT_ONCE) {
    const some = ofContracts.slice(begin, begin + CORRECTED_AT_ONCE);
    await correct(database, some, async (transaction) => {
      const wrong = [some.map(({ chainId }) => chainId), some.map(addressOf)];
      await transaction.query(LOCK_MATCHES, wrong);
      await transaction.query(DELETE_UNEXPLAINED, wrong);
      await transaction.query(RESTORE_MATCHES, wrong);
    });
  }
  await correct(database, ofKinds(repairable, COUNT_KINDS), async (transaction) => {
    await transaction.query(CORRECT_COUNTS);
    await transaction.query(DELETE_UNEXPLAINED_COUNTS);
  });
  await correct(database, ofKinds(repairable, ['rollup_against_events']), async (transaction) => {
    // Followers of the feed wait, but stores do not.
    await lockUntilCommit(transaction, 'followers');
    await restoreRollups(transaction);
  });
  await correct(database, ofKinds(repairable, ['feed_against_events']), async (transaction) => {
    await transaction.query(QUEUE_EVENTS);
  });
  await notifyOfMatches(database);
  return { ...compared, repaired: true };
}

const CONTRACT_KINDS = ['row_against_events', 'trust_against_events'] as const;
const COUNT_KINDS = ['counts_against_events', 'counts_against_rows'] as const;

const ofKinds = (
  differences: readonly CountDifference[],
  kinds: readonly CountDifference['kind'][],
): readonly CountDifference[] => differences.filter(({ kind }) => kinds.includes(kind));

const addressOf = ({ address }: CountDifference): Buffer | null =>
  address === undefined ? null : Buffer.from(address.slice(2), 'hex');

/** Corrects differences and records it, in one transaction; does nothing if there are none. */
async function correct(
  database: Database,
  differences: readonly CountDifference[],
  work: (transaction: Queryable) => Promise<void>,
): Promise<void> {
  if (differences.length === 0) return;
  await database.transaction(async (transaction) => {
    await transaction.query(LIFT_TIME_LIMIT);
    // A second repair sees what the first has corrected.
    await lockUntilCommit(transaction, 'repairs');
    await transaction.query(LIFT_REST_LIMIT);
    await work(transaction);
    await transaction.query(RECORD_CORRECTION, [
      differences.map(({ chainId }) => chainId),
      differences.map(addressOf),
      differences.map(({ kind, stored, expected }) => `${kind}: ${stored} became ${expected}`),
    ]);
  });
}

async function compare(database: Queryable): Promise<Omit<Recount, 'repaired'>> {
  const rows = await database.query<{
    kind: CountDifference['kind'];
    chain_id: string;
    address: Buffer | null;
    stored: string;
    expected: string;
  }>(COMPARE);
  const [totals] = await database.query<{ chains: string; contracts: string; events: string }>(
    COUNT_ROWS,
  );
  return {
    chains: Number(totals?.chains ?? 0),
    contracts: Number(totals?.contracts ?? 0),
    events: Number(totals?.events ?? 0),
    differences: [
      ...rows.map((row) => ({
        kind: row.kind,
        chainId: Number(row.chain_id),
        ...(row.address === null ? {} : { address: bytesToHex(row.address) }),
        stored: row.stored,
        expected: row.expected,
      })),
      ...(await compareRollups(database)).map((difference) => ({
        kind: 'rollup_against_events' as const,
        ...difference,
      })),
    ],
  };
}
