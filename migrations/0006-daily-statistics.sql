-- Statistics over time, and the lists and searches of contracts.
--
-- Every table below is a function of match_events and the evidence; `fullmatch recount` compares them with the views
-- expected_*, which say what the function is, and mends them from there. Writers add to them in the transaction of
-- the events, chain by chain, so that writers of different chains never wait for each other's counters.

-- Which code of a chain each current match is about: the same code elsewhere is one scan of an index.
ALTER TABLE current_matches ADD COLUMN runtime_code_hash bytea;
UPDATE current_matches SET runtime_code_hash = contracts.runtime_code_hash
FROM verified_contracts
JOIN contract_deployments ON contract_deployments.id = verified_contracts.deployment_id
JOIN contracts ON contracts.id = contract_deployments.contract_id
WHERE verified_contracts.id = current_matches.verified_contract_id;

-- Newest first, of all chains or of one. A list merges the few combinations of match and origin that it asks for.
CREATE INDEX current_matches_newest ON current_matches (match, origin, verified_contract_id);
CREATE INDEX current_matches_newest_of_chain ON current_matches (chain_id, match, origin, verified_contract_id);
CREATE INDEX current_matches_of_code ON current_matches (runtime_code_hash, verified_contract_id)
  WHERE runtime_code_hash IS NOT NULL;
CREATE INDEX code_keccak ON code (code_hash_keccak);
CREATE INDEX verified_contracts_of_compilation ON verified_contracts (compilation_id, id);

-- What a name is found by: the rest of the name from each of its words on, in lower case.
-- UUPSProxy_v2 is found by uupsproxy…, proxy… and v2.
CREATE FUNCTION name_endings(name varchar) RETURNS SETOF text LANGUAGE sql IMMUTABLE STRICT AS $$
  WITH words AS (
    SELECT string_to_array(btrim(regexp_replace(regexp_replace(regexp_replace(left(name, 100),
      '([a-z0-9])([A-Z])', '\1 \2', 'g'), '([A-Z])([A-Z][a-z])', '\1 \2', 'g'), '[_$ ]+', ' ', 'g')), ' ') AS word
  )
  SELECT lower(left(name, 100))
  UNION
  SELECT lower(array_to_string(word[first:], '')) FROM words, generate_series(1, least(cardinality(word), 20)) AS first
$$;
CREATE TABLE contract_names (
  compilation_id uuid NOT NULL REFERENCES compiled_contracts (id) ON DELETE CASCADE,
  ending text COLLATE "C" NOT NULL,
  PRIMARY KEY (compilation_id, ending)
);
INSERT INTO contract_names (compilation_id, ending)
SELECT id, name_endings(name) FROM compiled_contracts;
CREATE INDEX contract_names_by_ending ON contract_names (ending, compilation_id);
CREATE FUNCTION add_contract_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO contract_names (compilation_id, ending) SELECT NEW.id, name_endings(NEW.name);
  RETURN NULL;
END
$$;
CREATE TRIGGER compiled_contracts_have_names AFTER INSERT ON compiled_contracts
  FOR EACH ROW EXECUTE FUNCTION add_contract_name();

-- What an event changed: a correction changes no match.
CREATE VIEW event_changes AS
SELECT id, chain_id, address, kind, recorded_at, origin, verified_contract_id, match_after, reason,
  (recorded_at AT TIME ZONE 'UTC')::date AS day,
  date_trunc('hour', recorded_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS hour,
  coalesce(match_after = 'full', false)::int - coalesce(match_before = 'full', false)::int AS full_match,
  coalesce(match_after = 'partial', false)::int - coalesce(match_before = 'partial', false)::int AS partial_match
FROM match_events WHERE kind <> 'corrected';

-- Each distinct runtime code that was ever verified, as far as the codes are known, with the chain that had it first.
CREATE TABLE verified_codes (
  code_hash bytea PRIMARY KEY,
  chain_id bigint NOT NULL
);
CREATE VIEW expected_codes AS
SELECT DISTINCT runtime_code_hash AS code_hash
FROM event_changes
JOIN verified_contracts ON verified_contracts.id = verified_contract_id
JOIN contract_deployments ON contract_deployments.id = deployment_id
JOIN contracts ON contracts.id = contract_id
WHERE kind <> 'withdrawn' AND runtime_code_hash IS NOT NULL;

-- A chain at a glance. `events` never falls, so its sum tells whether anything changed.
CREATE TABLE chain_activity (
  chain_id bigint PRIMARY KEY,
  events bigint NOT NULL DEFAULT 0,
  codes bigint NOT NULL DEFAULT 0,
  first_verified_at timestamptz,
  last_verified_at timestamptz
);
CREATE VIEW expected_activity AS
SELECT chain_id, count(*) AS events,
  (SELECT count(*) FROM verified_codes WHERE verified_codes.chain_id = event_changes.chain_id) AS codes,
  min(recorded_at) FILTER (WHERE kind <> 'withdrawn') AS first_verified_at,
  max(recorded_at) FILTER (WHERE kind <> 'withdrawn') AS last_verified_at
FROM event_changes GROUP BY chain_id;

-- By how much the counts of a chain changed on a day (UTC), and in an hour of the last days.
CREATE TABLE daily_counts (
  chain_id bigint NOT NULL,
  day date NOT NULL,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL,
  PRIMARY KEY (chain_id, day)
);
CREATE INDEX daily_counts_by_day ON daily_counts (day) INCLUDE (full_match, partial_match);
CREATE VIEW expected_daily_counts AS
SELECT chain_id, day, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM event_changes GROUP BY chain_id, day;

CREATE TABLE hourly_counts (
  chain_id bigint NOT NULL,
  hour timestamptz NOT NULL,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL,
  PRIMARY KEY (chain_id, hour)
);
CREATE VIEW expected_hourly_counts AS
SELECT chain_id, hour, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM event_changes WHERE hour >= date_trunc('hour', now()) - interval '8 days' GROUP BY chain_id, hour;

-- Why counts fell: the withdrawals of a day that have the same reason.
CREATE TABLE daily_falls (
  chain_id bigint NOT NULL,
  day date NOT NULL,
  reason text NOT NULL,
  reason_hash bytea NOT NULL GENERATED ALWAYS AS (hash_path(reason)) STORED,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL,
  PRIMARY KEY (day, chain_id, reason_hash)
);
CREATE VIEW expected_daily_falls AS
SELECT chain_id, day, reason, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM event_changes WHERE kind = 'withdrawn' GROUP BY chain_id, day, reason;

-- The current matches by what they were compiled with and who judged them.
CREATE TABLE compiler_counts (
  chain_id bigint NOT NULL,
  origin match_origin NOT NULL,
  language varchar NOT NULL,
  version varchar NOT NULL,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL,
  PRIMARY KEY (chain_id, origin, language, version)
);
CREATE VIEW expected_compiler_counts AS
SELECT chain_id, origin, coalesce(language, 'unknown')::varchar AS language, coalesce(version, 'unknown')::varchar AS version,
  count(*) FILTER (WHERE match_after = 'full') AS full_match,
  count(*) FILTER (WHERE match_after = 'partial') AS partial_match
FROM (
  SELECT DISTINCT ON (chain_id, address) chain_id, origin, match_after, verified_contract_id
  FROM event_changes ORDER BY chain_id, address, id DESC
) AS replayed
LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
WHERE match_after IS NOT NULL GROUP BY 1, 2, 3, 4;

INSERT INTO verified_codes (code_hash, chain_id)
SELECT DISTINCT ON (runtime_code_hash) runtime_code_hash, event_changes.chain_id
FROM event_changes
JOIN verified_contracts ON verified_contracts.id = verified_contract_id
JOIN contract_deployments ON contract_deployments.id = deployment_id
JOIN contracts ON contracts.id = contract_id
WHERE kind <> 'withdrawn' AND runtime_code_hash IS NOT NULL ORDER BY runtime_code_hash, event_changes.id;
INSERT INTO chain_activity SELECT * FROM expected_activity;
INSERT INTO daily_counts SELECT * FROM expected_daily_counts;
INSERT INTO hourly_counts SELECT * FROM expected_hourly_counts;
INSERT INTO daily_falls (chain_id, day, reason, full_match, partial_match) SELECT * FROM expected_daily_falls;
INSERT INTO compiler_counts SELECT * FROM expected_compiler_counts;
