-- How far each match was checked here, where an imported one came from, and what its import delivered as evidence.
CREATE TYPE match_trust AS ENUM ('claimed', 'rechecked', 'recompiled', 'verified');

-- All locks are taken at once, in the order of writers, so that no writer stands between two of them.
LOCK TABLE code, contract_deployments, compiled_contracts, verified_contracts, current_matches, match_events,
  compiler_counts IN ACCESS EXCLUSIVE MODE;

-- The one row without a code stands for a code that is not known, as in the database of the Verifier Alliance. The hash of
-- every other row is checked already.
ALTER TABLE code ALTER COLUMN code DROP NOT NULL,
  ADD CONSTRAINT only_the_unknown_code_is_absent CHECK ((code IS NULL) = (code_hash = ''));
INSERT INTO code (code_hash, code_hash_keccak, code) VALUES ('', '', NULL);

-- What an import says of a deployment, beside what was read here: codes, block, index and deployer. Nothing here is
-- evidence of a chain. A block of -1 is that of a genesis allocation, which has no transaction.
ALTER TABLE contract_deployments
  ADD COLUMN claimed_contract_id uuid REFERENCES contracts,
  ADD COLUMN claimed_block_number numeric,
  ADD COLUMN claimed_transaction_index numeric,
  ADD COLUMN claimed_deployer bytea CHECK (octet_length(claimed_deployer) = 20),
  DROP CONSTRAINT contract_deployments_are_distinct,
  ADD CONSTRAINT contract_deployments_are_distinct
    UNIQUE NULLS NOT DISTINCT (chain_id, address, transaction_hash, contract_id, claimed_contract_id);
CREATE INDEX contract_deployments_claimed_contract_id ON contract_deployments (claimed_contract_id)
  WHERE claimed_contract_id IS NOT NULL;

-- Codes that an import delivered are no output of a compiler that ran here: they are not indexed and nothing is judged by
-- them. Whoever compiles the same sources here stores a compilation of its own.
ALTER TABLE compiled_contracts
  ADD COLUMN additional_input jsonb,
  ADD COLUMN are_codes_claimed boolean NOT NULL DEFAULT false;

-- The version of the matcher that judged or replayed it; NULL where none did, or one before versions were kept.
ALTER TABLE verified_contracts
  ADD COLUMN source text CHECK (octet_length(source) BETWEEN 1 AND 100),
  ADD COLUMN matcher_version integer;

-- The trust that an event left; NULL in events of versions before it.
ALTER TABLE match_events ADD COLUMN trust match_trust;
CREATE FUNCTION trust_of_event(trust match_trust, origin match_origin) RETURNS match_trust LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(trust, CASE origin WHEN 'imported' THEN 'claimed' ELSE 'verified' END::match_trust)
$$;

-- The check refuses a claim that a process of the version before would store: it does not say its trust.
ALTER TABLE current_matches ADD COLUMN trust match_trust NOT NULL DEFAULT 'verified';
UPDATE current_matches SET trust = 'claimed' WHERE origin = 'imported';
ALTER TABLE current_matches
  ADD CONSTRAINT only_imports_are_less_than_verified CHECK ((origin = 'imported') = (trust < 'verified'));

-- Evidence of imports that is not behind the shown match of its address, such as another compilation of the same
-- deployment: kept so that an export can give it back.
CREATE TABLE claimed_evidence (
  chain_id bigint NOT NULL,
  address bytea NOT NULL,
  verified_contract_id bigint NOT NULL REFERENCES verified_contracts,
  trust match_trust NOT NULL CHECK (trust < 'verified'),
  recorded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, address, verified_contract_id),
  FOREIGN KEY (chain_id, address) REFERENCES current_matches ON DELETE CASCADE
);

-- A list is narrowed by trust in the order of its index.
DROP INDEX current_matches_newest, current_matches_newest_of_chain;
CREATE INDEX current_matches_newest ON current_matches (match, origin, trust, verified_contract_id);
CREATE INDEX current_matches_newest_of_chain ON current_matches (chain_id, match, origin, trust, verified_contract_id);

-- The statistics over time know the trust of a change; a view gets a column only when it is made again.
DROP VIEW expected_compiler_counts, expected_activity, expected_codes, expected_daily_counts, expected_daily_totals,
  expected_hourly_totals, expected_daily_falls, counted_changes;
CREATE OR REPLACE VIEW event_changes AS
SELECT id, chain_id, address, kind, recorded_at, origin, verified_contract_id, match_after, reason,
  (recorded_at AT TIME ZONE 'UTC')::date AS day,
  date_trunc('hour', recorded_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS hour,
  coalesce(match_after = 'full', false)::integer - coalesce(match_before = 'full', false)::integer AS full_match,
  coalesce(match_after = 'partial', false)::integer - coalesce(match_before = 'partial', false)::integer AS partial_match,
  trust_of_event(trust, origin) AS trust
FROM match_events WHERE kind <> 'corrected';
CREATE VIEW counted_changes AS
SELECT event_changes.* FROM event_changes
JOIN feed ON event_id = event_changes.id
WHERE position <= (SELECT position FROM feed_followers WHERE name = 'statistics');
CREATE VIEW expected_codes AS
SELECT DISTINCT runtime_code_hash AS code_hash
FROM counted_changes
JOIN verified_contracts ON verified_contracts.id = verified_contract_id
JOIN contract_deployments ON contract_deployments.id = deployment_id
JOIN contracts ON contracts.id = contract_id
WHERE kind <> 'withdrawn' AND runtime_code_hash IS NOT NULL;
CREATE VIEW expected_activity AS
SELECT chain_id, count(*) AS events,
  (SELECT count(*) FROM verified_codes WHERE verified_codes.chain_id = counted_changes.chain_id) AS codes,
  min(recorded_at) FILTER (WHERE kind <> 'withdrawn') AS first_verified_at,
  max(recorded_at) FILTER (WHERE kind <> 'withdrawn') AS last_verified_at,
  sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM counted_changes GROUP BY chain_id;
CREATE VIEW expected_daily_counts AS
SELECT chain_id, day, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM counted_changes GROUP BY chain_id, day;
CREATE VIEW expected_daily_totals AS
SELECT day, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM counted_changes GROUP BY day;
CREATE VIEW expected_hourly_totals AS
SELECT hour, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM counted_changes WHERE hour >= date_trunc('hour', now()) - interval '8 days' GROUP BY hour;
CREATE VIEW expected_daily_falls AS
SELECT chain_id, day, reason, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM counted_changes WHERE kind = 'withdrawn' GROUP BY chain_id, day, reason;

-- The counts by compiler tell trust apart too.
ALTER TABLE compiler_counts ADD COLUMN trust match_trust NOT NULL DEFAULT 'verified';
UPDATE compiler_counts SET trust = 'claimed' WHERE origin = 'imported';
ALTER TABLE compiler_counts ALTER COLUMN trust DROP DEFAULT,
  DROP CONSTRAINT compiler_counts_pkey, ADD PRIMARY KEY (chain_id, origin, trust, language, version);
CREATE VIEW expected_compiler_counts AS
SELECT chain_id, origin, trust, coalesce(language, 'unknown')::varchar AS language,
  coalesce(version, 'unknown')::varchar AS version,
  count(*) FILTER (WHERE match_after = 'full') AS full_match,
  count(*) FILTER (WHERE match_after = 'partial') AS partial_match
FROM (
  SELECT DISTINCT ON (chain_id, address) chain_id, origin, trust, match_after, verified_contract_id
  FROM counted_changes ORDER BY chain_id, address, id DESC
) AS replayed
LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
WHERE match_after IS NOT NULL GROUP BY 1, 2, 3, 4, 5;
