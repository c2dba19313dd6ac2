-- A compilation is immutable, publishes only what it needs, and no text takes the place of another at an equal level.
--
-- Earlier versions told compilations apart by their codes and metadata alone. Whoever verified the same code with more
-- files, or with other names where no metadata proves them, could add to what somebody else had published. This
-- migration sets aside what was added, withdraws matches that rest on the creation code alone, and says so in events.
-- Nothing is lost: what is set aside stays in the tables set_aside_*, which nothing published reads.

-- All that is published of a compilation makes its id now, so two compilations may share codes and metadata.
ALTER TABLE compiled_contracts DROP CONSTRAINT compiled_contracts_are_distinct;

-- Which text is shown: the sha256 of the metadata, whose hashes prove every source, or of the id of the compilation
-- where no metadata lists all of them. A match of the same level replaces the shown evidence only with the same text.
ALTER TABLE current_matches ADD COLUMN text_hash bytea;
UPDATE current_matches SET text_hash = coalesce(metadata_hash, sha256(convert_to(compiled_contracts.id::text, 'UTF8')))
FROM verified_contracts
JOIN compiled_contracts ON compiled_contracts.id = compilation_id
WHERE verified_contracts.id = current_matches.verified_contract_id;

-- The law "a match only rises": the better of the two rises, or it stays, neither of the two falls, and the text is
-- the same.
DROP FUNCTION match_rises(match, match, match, match);
CREATE FUNCTION match_rises(
  old_runtime match, old_creation match, new_runtime match, new_creation match, same_text boolean
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT greatest(new_runtime, new_creation) > greatest(old_runtime, old_creation)
    OR greatest(new_runtime, new_creation) = greatest(old_runtime, old_creation)
    AND coalesce(same_text, false)
    AND (old_runtime IS NULL OR coalesce(new_runtime >= old_runtime, false))
    AND (old_creation IS NULL OR coalesce(new_creation >= old_creation, false))
    AND (new_runtime IS DISTINCT FROM old_runtime OR new_creation IS DISTINCT FROM old_creation)
$$;

-- Other texts that give the code of a partial match. They are kept beside the shown one, a few for each contract, and
-- leave when the match is withdrawn or rises to full.
CREATE TABLE alternative_matches (
  chain_id bigint NOT NULL,
  address bytea NOT NULL,
  text_hash bytea NOT NULL,
  verified_contract_id bigint NOT NULL REFERENCES verified_contracts (id),
  recorded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, address, text_hash),
  FOREIGN KEY (chain_id, address) REFERENCES current_matches ON DELETE CASCADE
);

-- What a finished job says of its submission: whether its text is kept beside another, and which sources were left out
-- because the compilation does not need them: {count, paths}, with the first paths only.
ALTER TABLE verification_jobs ADD COLUMN kept_beside boolean NOT NULL DEFAULT false;
ALTER TABLE verification_jobs ADD COLUMN dropped_sources jsonb;

-- What earlier versions published and should not have.
CREATE TABLE set_aside_sources (
  compilation_id uuid NOT NULL REFERENCES compiled_contracts (id),
  path varchar NOT NULL,
  source_hash bytea NOT NULL REFERENCES sources (source_hash),
  set_aside_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX set_aside_sources_of_compilation ON set_aside_sources (compilation_id);
CREATE TABLE set_aside_settings (
  compilation_id uuid NOT NULL REFERENCES compiled_contracts (id),
  settings jsonb NOT NULL,
  set_aside_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX set_aside_settings_of_compilation ON set_aside_settings (compilation_id);

-- The object whose keys are the paths that a compilation needs: the sources of its metadata, or the compiler's own list
-- where there is no metadata. A program in Yul is one file, the one that its name is in. NULL where none of them can be
-- read: then nothing is set aside.
CREATE FUNCTION pg_temp.listed_sources(metadata text, artifacts jsonb, language text, name text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  listed jsonb;
BEGIN
  -- Only the keys are converted: jsonb refuses a NUL, which other members may hold.
  IF language = 'yul' THEN
    listed := jsonb_build_object(regexp_replace(name, ':[^:]*$', ''), true);
  ELSIF metadata IS NULL THEN
    listed := artifacts->'sources';
  ELSE
    SELECT jsonb_object_agg(path, true) INTO listed
    FROM json_object_keys(metadata::json->'sources') AS path;
  END IF;
  RETURN CASE WHEN jsonb_typeof(listed) = 'object' AND listed <> '{}' THEN listed END;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RETURN NULL;
END
$$;

-- One compilation after the other, so that no more than one metadata document is held.
DO $$
DECLARE
  compilation record;
  listed jsonb;
BEGIN
  FOR compilation IN SELECT * FROM compiled_contracts LOOP
    listed := pg_temp.listed_sources(compilation.metadata, compilation.compilation_artifacts, compilation.language,
      compilation.fully_qualified_name);
    CONTINUE WHEN listed IS NULL OR NOT EXISTS (
      SELECT FROM compiled_contracts_sources WHERE compilation_id = compilation.id AND listed ? path);
    WITH unlisted AS (
      DELETE FROM compiled_contracts_sources WHERE compilation_id = compilation.id AND NOT listed ? path
      RETURNING compilation_id, path, source_hash
    )
    INSERT INTO set_aside_sources (compilation_id, path, source_hash) SELECT * FROM unlisted;
  END LOOP;
END
$$;

-- What was asked of the compiler beside the code is no property of the contract, and holds any text.
UPDATE compiled_contracts SET compiler_settings = compiler_settings - 'outputSelection'
WHERE compiler_settings ? 'outputSelection' AND jsonb_typeof(compiler_settings) = 'object';

-- Settings that no version of solc knows were stored as they came. Imported ones come from metadata.
WITH unknown AS (
  SELECT id, jsonb_object_agg(key, value) AS settings
  FROM compiled_contracts
  CROSS JOIN LATERAL jsonb_each(CASE jsonb_typeof(compiler_settings) WHEN 'object' THEN compiler_settings ELSE '{}' END)
  WHERE compiler = 'solc' AND runtime_code_hash IS NOT NULL AND key NOT IN ('compilationTarget', 'debug', 'eofVersion',
    'evmVersion', 'experimental', 'libraries', 'metadata', 'modelChecker', 'optimizer', 'parserErrorRecovery',
    'remappings', 'stopAfter', 'viaIR', 'viaSSACFG')
  GROUP BY id
), kept AS (
  UPDATE compiled_contracts
  SET compiler_settings = compiler_settings - ARRAY(SELECT jsonb_object_keys(unknown.settings)), updated_at = now()
  FROM unknown WHERE unknown.id = compiled_contracts.id
)
INSERT INTO set_aside_settings (compilation_id, settings) SELECT id, settings FROM unknown;

-- Everybody whose shown compilation changed can read why.
INSERT INTO match_events (kind, chain_id, address, reason)
SELECT 'corrected', chain_id, address, reason
FROM current_matches
JOIN verified_contracts ON verified_contracts.id = verified_contract_id
JOIN (
  SELECT compilation_id, 1 AS place, format('unlisted_sources_removed: %s', count(*)) AS reason
  FROM set_aside_sources GROUP BY compilation_id
  UNION ALL
  SELECT compilation_id, 2, format('unknown_settings_removed: %s', (SELECT count(*) FROM jsonb_object_keys(settings)))
  FROM set_aside_settings
) AS change USING (compilation_id)
ORDER BY chain_id, address, place;

-- Where the running code was read and does not match, there is no match, whatever the creation code says.
DO $$
BEGIN
  CREATE TEMPORARY TABLE creation_only ON COMMIT DROP AS
  SELECT current_matches.chain_id, current_matches.address, match, current_matches.origin, verified_contract_id
  FROM current_matches
  JOIN verified_contracts ON verified_contracts.id = verified_contract_id
  WHERE current_matches.runtime_match IS NULL AND code_reading IS NOT NULL;
  IF NOT EXISTS (SELECT FROM creation_only) THEN
    RETURN;
  END IF;

  DELETE FROM current_matches USING creation_only
  WHERE current_matches.chain_id = creation_only.chain_id AND current_matches.address = creation_only.address;
  INSERT INTO match_events (kind, chain_id, address, match_before, origin, verified_contract_id, reason)
  SELECT 'withdrawn', chain_id, address, match, origin, verified_contract_id, 'creation_only'
  FROM creation_only ORDER BY chain_id, address;
  UPDATE chain_counts SET full_match = chain_counts.full_match - fallen.full_match,
    partial_match = chain_counts.partial_match - fallen.partial_match, updated_at = now()
  FROM (
    SELECT chain_id, count(*) FILTER (WHERE match = 'full') AS full_match,
      count(*) FILTER (WHERE match = 'partial') AS partial_match
    FROM creation_only GROUP BY chain_id
  ) AS fallen
  WHERE fallen.chain_id = chain_counts.chain_id;

  -- Statistics over time are a function of the events: they are made anew from the views that say which.
  DELETE FROM chain_activity;
  INSERT INTO chain_activity (chain_id, events, codes, first_verified_at, last_verified_at)
  SELECT chain_id, events, codes, first_verified_at, last_verified_at FROM expected_activity;
  DELETE FROM daily_counts;
  INSERT INTO daily_counts (chain_id, day, full_match, partial_match)
  SELECT chain_id, day, full_match, partial_match FROM expected_daily_counts;
  DELETE FROM daily_totals;
  INSERT INTO daily_totals (slot, day, full_match, partial_match)
  SELECT slot, day, full_match, partial_match FROM expected_daily_totals;
  DELETE FROM hourly_totals;
  INSERT INTO hourly_totals (slot, hour, full_match, partial_match)
  SELECT slot, hour, full_match, partial_match FROM expected_hourly_totals;
  DELETE FROM daily_falls;
  INSERT INTO daily_falls (chain_id, day, reason, full_match, partial_match)
  SELECT chain_id, day, reason, full_match, partial_match FROM expected_daily_falls;
  DELETE FROM compiler_counts;
  INSERT INTO compiler_counts (chain_id, origin, language, version, full_match, partial_match)
  SELECT chain_id, origin, language, version, full_match, partial_match FROM expected_compiler_counts;
END
$$;

-- From here on a compilation does not change. Its sources come with it: rows of another transaction are refused.
CREATE TRIGGER compiled_contracts_are_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON compiled_contracts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER compiled_contracts_sources_are_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON compiled_contracts_sources
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE FUNCTION refuse_late_sources() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM added JOIN compiled_contracts ON compiled_contracts.id = added.compilation_id
    WHERE compiled_contracts.xmin <> pg_current_xact_id()::xid
  ) THEN
    RAISE EXCEPTION 'sources join a compilation in the transaction that stores it'
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER compiled_contracts_sources_come_with_it
  AFTER INSERT ON compiled_contracts_sources REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_late_sources();
