-- The feed: committed events get positions without gaps, and whatever follows events keeps its own position.
--
-- The id of an event is given before its transaction commits, so ids become visible in any order, and some never do. A
-- position is given after the commit, by one sequencer at a time: an event with a lower position never appears later.
-- Positions of the events until now are their ids, so that numbers which readers hold keep their meaning.
--
-- All locks are taken at once, in the order of writers, so that no writer stands between two of them.
LOCK TABLE compiled_contracts, match_events, chain_counts, chain_activity, daily_totals, hourly_totals
  IN ACCESS EXCLUSIVE MODE;
CREATE TABLE feed (
  position bigint NOT NULL,
  -- No foreign key: events are never deleted, and the check would write to the row of each.
  event_id bigint NOT NULL
);
INSERT INTO feed (position, event_id) SELECT id, id FROM match_events ORDER BY id;
ALTER TABLE feed ADD PRIMARY KEY (position), ADD UNIQUE (event_id);
ANALYZE feed;
CREATE TRIGGER feed_is_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON feed
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Events that have no position yet. A row appears with the commit of its event; the sequencer moves it into the feed.
CREATE TABLE feed_queue (event_id bigint PRIMARY KEY)
  WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE FUNCTION queue_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A dump that is loaded holds the queue too.
  INSERT INTO feed_queue (event_id) SELECT id FROM added ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER match_events_are_queued
  AFTER INSERT ON match_events REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION queue_events();

-- How far each follower has come. It moves in the transaction that writes what follows from the events.
CREATE TABLE feed_followers (
  name text PRIMARY KEY,
  position bigint NOT NULL
);
INSERT INTO feed_followers (name, position)
SELECT name, (SELECT coalesce(max(position), 0) FROM feed) FROM (VALUES ('statistics'), ('names')) AS follower (name);

-- Names follow the feed: storing a match does not wait for them.
DROP TRIGGER compiled_contracts_have_names ON compiled_contracts;
DROP FUNCTION add_contract_name();
CREATE VIEW expected_names AS
SELECT id AS compilation_id, name_endings(name) AS ending FROM compiled_contracts WHERE id IN (
  SELECT compilation_id FROM feed
  JOIN match_events ON match_events.id = event_id
  JOIN verified_contracts ON verified_contracts.id = verified_contract_id
  WHERE position <= (SELECT position FROM feed_followers WHERE feed_followers.name = 'names'));

-- The statistics over time follow the feed too, so that one writer adds to them and a day needs one row.
DROP VIEW expected_daily_totals, expected_hourly_totals;
CREATE TEMPORARY TABLE days ON COMMIT DROP AS
SELECT day, sum(full_match) AS full_match, sum(partial_match) AS partial_match FROM daily_totals GROUP BY day;
DROP TABLE daily_totals;
CREATE TABLE daily_totals (
  day date PRIMARY KEY,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL
);
INSERT INTO daily_totals SELECT day, full_match, partial_match FROM days ORDER BY day;
CREATE TEMPORARY TABLE hours ON COMMIT DROP AS
SELECT hour, sum(full_match) AS full_match, sum(partial_match) AS partial_match FROM hourly_totals GROUP BY hour;
DROP TABLE hourly_totals;
CREATE TABLE hourly_totals (
  hour timestamptz PRIMARY KEY,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL
);
INSERT INTO hourly_totals SELECT hour, full_match, partial_match FROM hours ORDER BY hour;

-- The counts of a chain at the position of the statistics, beside those of now in chain_counts.
ALTER TABLE chain_activity
  ADD COLUMN full_match bigint NOT NULL DEFAULT 0,
  ADD COLUMN partial_match bigint NOT NULL DEFAULT 0;
UPDATE chain_activity SET full_match = chain_counts.full_match, partial_match = chain_counts.partial_match
FROM chain_counts WHERE chain_counts.chain_id = chain_activity.chain_id;

-- What the statistics count: the changes up to their position.
CREATE VIEW counted_changes AS
SELECT event_changes.* FROM event_changes
JOIN feed ON event_id = event_changes.id
WHERE position <= (SELECT position FROM feed_followers WHERE name = 'statistics');
CREATE OR REPLACE VIEW expected_codes AS
SELECT DISTINCT runtime_code_hash AS code_hash
FROM counted_changes
JOIN verified_contracts ON verified_contracts.id = verified_contract_id
JOIN contract_deployments ON contract_deployments.id = deployment_id
JOIN contracts ON contracts.id = contract_id
WHERE kind <> 'withdrawn' AND runtime_code_hash IS NOT NULL;
CREATE OR REPLACE VIEW expected_activity AS
SELECT chain_id, count(*) AS events,
  (SELECT count(*) FROM verified_codes WHERE verified_codes.chain_id = counted_changes.chain_id) AS codes,
  min(recorded_at) FILTER (WHERE kind <> 'withdrawn') AS first_verified_at,
  max(recorded_at) FILTER (WHERE kind <> 'withdrawn') AS last_verified_at,
  sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM counted_changes GROUP BY chain_id;
CREATE OR REPLACE VIEW expected_daily_counts AS
SELECT chain_id, day, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM counted_changes GROUP BY chain_id, day;
CREATE VIEW expected_daily_totals AS
SELECT day, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM counted_changes GROUP BY day;
CREATE VIEW expected_hourly_totals AS
SELECT hour, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM counted_changes WHERE hour >= date_trunc('hour', now()) - interval '8 days' GROUP BY hour;
CREATE OR REPLACE VIEW expected_daily_falls AS
SELECT chain_id, day, reason, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM counted_changes WHERE kind = 'withdrawn' GROUP BY chain_id, day, reason;
CREATE OR REPLACE VIEW expected_compiler_counts AS
SELECT chain_id, origin, coalesce(language, 'unknown')::varchar AS language, coalesce(version, 'unknown')::varchar AS version,
  count(*) FILTER (WHERE match_after = 'full') AS full_match,
  count(*) FILTER (WHERE match_after = 'partial') AS partial_match
FROM (
  SELECT DISTINCT ON (chain_id, address) chain_id, origin, match_after, verified_contract_id
  FROM counted_changes ORDER BY chain_id, address, id DESC
) AS replayed
LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
WHERE match_after IS NOT NULL GROUP BY 1, 2, 3, 4;
