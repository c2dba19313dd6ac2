-- The statistics tell claims apart: imported matches that are not verified here. full_match and partial_match go on to count
-- every contract; full_claims and partial_claims say how many of these are claims.

ALTER TABLE chain_activity
  ADD COLUMN full_claims bigint NOT NULL DEFAULT 0, ADD COLUMN partial_claims bigint NOT NULL DEFAULT 0;
ALTER TABLE daily_counts
  ADD COLUMN full_claims bigint NOT NULL DEFAULT 0, ADD COLUMN partial_claims bigint NOT NULL DEFAULT 0;
ALTER TABLE daily_totals
  ADD COLUMN full_claims bigint NOT NULL DEFAULT 0, ADD COLUMN partial_claims bigint NOT NULL DEFAULT 0;
ALTER TABLE hourly_totals
  ADD COLUMN full_claims bigint NOT NULL DEFAULT 0, ADD COLUMN partial_claims bigint NOT NULL DEFAULT 0;
ALTER TABLE daily_falls
  ADD COLUMN full_claims bigint NOT NULL DEFAULT 0, ADD COLUMN partial_claims bigint NOT NULL DEFAULT 0;

-- An event names the origin that it leaves; whether it replaced a claim, only the event before it says. A verification that
-- confirms a claim changes no match, and takes one claim away.
CREATE OR REPLACE VIEW event_changes AS
SELECT id, chain_id, address, kind, recorded_at, origin, verified_contract_id, match_after, reason,
  (recorded_at AT TIME ZONE 'UTC')::date AS day,
  date_trunc('hour', recorded_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS hour,
  coalesce(match_after = 'full', false)::integer - coalesce(match_before = 'full', false)::integer AS full_match,
  coalesce(match_after = 'partial', false)::integer - coalesce(match_before = 'partial', false)::integer AS partial_match,
  trust_of_event(trust, origin) AS trust,
  coalesce(match_after = 'full' AND origin = 'imported', false)::integer
    - coalesce(claim_before = 'full', false)::integer AS full_claims,
  coalesce(match_after = 'partial' AND origin = 'imported', false)::integer
    - coalesce(claim_before = 'partial', false)::integer AS partial_claims
FROM (
  SELECT match_events.*, CASE WHEN match_before IS NOT NULL THEN (
    SELECT CASE WHEN earlier.origin = 'imported' THEN match_events.match_before END FROM match_events AS earlier
    WHERE earlier.chain_id = match_events.chain_id AND earlier.address = match_events.address
      AND earlier.id < match_events.id AND earlier.kind <> 'corrected'
    ORDER BY earlier.id DESC LIMIT 1
  ) END AS claim_before
  FROM match_events WHERE kind <> 'corrected'
) AS event;
CREATE OR REPLACE VIEW counted_changes AS
SELECT event_changes.* FROM event_changes
JOIN feed ON event_id = event_changes.id
WHERE position <= (SELECT position FROM feed_followers WHERE name = 'statistics');
CREATE OR REPLACE VIEW expected_activity AS
SELECT chain_id, count(*) AS events,
  (SELECT count(*) FROM verified_codes WHERE verified_codes.chain_id = counted_changes.chain_id) AS codes,
  min(recorded_at) FILTER (WHERE kind <> 'withdrawn') AS first_verified_at,
  max(recorded_at) FILTER (WHERE kind <> 'withdrawn') AS last_verified_at,
  sum(full_match) AS full_match, sum(partial_match) AS partial_match,
  sum(full_claims) AS full_claims, sum(partial_claims) AS partial_claims
FROM counted_changes GROUP BY chain_id;
CREATE OR REPLACE VIEW expected_daily_counts AS
SELECT chain_id, day, sum(full_match) AS full_match, sum(partial_match) AS partial_match,
  sum(full_claims) AS full_claims, sum(partial_claims) AS partial_claims
FROM counted_changes GROUP BY chain_id, day;
CREATE OR REPLACE VIEW expected_daily_totals AS
SELECT day, sum(full_match) AS full_match, sum(partial_match) AS partial_match,
  sum(full_claims) AS full_claims, sum(partial_claims) AS partial_claims
FROM counted_changes GROUP BY day;
CREATE OR REPLACE VIEW expected_hourly_totals AS
SELECT hour, sum(full_match) AS full_match, sum(partial_match) AS partial_match,
  sum(full_claims) AS full_claims, sum(partial_claims) AS partial_claims
FROM counted_changes WHERE hour >= date_trunc('hour', now()) - interval '8 days' GROUP BY hour;
CREATE OR REPLACE VIEW expected_daily_falls AS
SELECT chain_id, day, reason, sum(full_match) AS full_match, sum(partial_match) AS partial_match,
  sum(full_claims) AS full_claims, sum(partial_claims) AS partial_claims
FROM counted_changes WHERE kind = 'withdrawn' GROUP BY chain_id, day, reason;

-- What the events so far say. The events are read once; the sums over chains and days follow from the days of each chain.
UPDATE daily_counts AS counts SET full_claims = expected.full_claims, partial_claims = expected.partial_claims
FROM expected_daily_counts AS expected
WHERE (counts.chain_id, counts.day) = (expected.chain_id, expected.day)
  AND (expected.full_claims, expected.partial_claims) <> (0, 0);
UPDATE daily_totals AS totals SET full_claims = expected.full_claims, partial_claims = expected.partial_claims
FROM (
  SELECT day, sum(full_claims) AS full_claims, sum(partial_claims) AS partial_claims FROM daily_counts GROUP BY day
) AS expected
WHERE totals.day = expected.day;
UPDATE chain_activity AS activity SET full_claims = expected.full_claims, partial_claims = expected.partial_claims
FROM (
  SELECT chain_id, sum(full_claims) AS full_claims, sum(partial_claims) AS partial_claims FROM daily_counts GROUP BY chain_id
) AS expected
WHERE activity.chain_id = expected.chain_id;
UPDATE hourly_totals AS totals SET full_claims = expected.full_claims, partial_claims = expected.partial_claims
FROM expected_hourly_totals AS expected
WHERE totals.hour = expected.hour AND (expected.full_claims, expected.partial_claims) <> (0, 0);
UPDATE daily_falls AS falls SET full_claims = expected.full_claims, partial_claims = expected.partial_claims
FROM expected_daily_falls AS expected
WHERE (falls.chain_id, falls.day, falls.reason) = (expected.chain_id, expected.day, expected.reason)
  AND (expected.full_claims, expected.partial_claims) <> (0, 0);
