-- The repository of verified contracts.
--
-- The first part has the tables and columns of the Verifier Alliance database, so that data moves in and out
-- of the field's own dumps. What an import cannot know (code, creation transaction) may be absent, and a
-- compilation is told apart by its metadata too, since two compilations can give the same code.

CREATE TABLE code (
  code_hash bytea PRIMARY KEY,
  code_hash_keccak bytea NOT NULL,
  code bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  created_by varchar NOT NULL DEFAULT current_user,
  updated_by varchar NOT NULL DEFAULT current_user,
  CONSTRAINT code_hash_is_sha256 CHECK (code_hash = sha256(code))
);

CREATE TABLE contracts (
  id uuid PRIMARY KEY,
  creation_code_hash bytea REFERENCES code (code_hash),
  runtime_code_hash bytea REFERENCES code (code_hash),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  created_by varchar NOT NULL DEFAULT current_user,
  updated_by varchar NOT NULL DEFAULT current_user,
  CONSTRAINT contracts_are_distinct UNIQUE NULLS NOT DISTINCT (creation_code_hash, runtime_code_hash)
);
CREATE INDEX contracts_runtime_code_hash ON contracts (runtime_code_hash);

CREATE TABLE contract_deployments (
  id uuid PRIMARY KEY,
  chain_id bigint NOT NULL CHECK (chain_id BETWEEN 1 AND 9007199254740991),
  address bytea NOT NULL CHECK (octet_length(address) = 20),
  transaction_hash bytea CHECK (octet_length(transaction_hash) = 32),
  block_number numeric,
  transaction_index numeric,
  deployer bytea CHECK (octet_length(deployer) = 20),
  contract_id uuid REFERENCES contracts (id),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  created_by varchar NOT NULL DEFAULT current_user,
  updated_by varchar NOT NULL DEFAULT current_user,
  CONSTRAINT contract_deployments_are_distinct
    UNIQUE NULLS NOT DISTINCT (chain_id, address, transaction_hash, contract_id)
);
CREATE INDEX contract_deployments_contract_id ON contract_deployments (contract_id);

CREATE TABLE sources (
  source_hash bytea PRIMARY KEY,
  source_hash_keccak bytea NOT NULL,
  content text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  created_by varchar NOT NULL DEFAULT current_user,
  updated_by varchar NOT NULL DEFAULT current_user,
  CONSTRAINT source_hash_is_sha256 CHECK (source_hash = sha256(convert_to(content, 'UTF8')))
);
CREATE INDEX sources_source_hash_keccak ON sources (source_hash_keccak);

CREATE TABLE compiled_contracts (
  id uuid PRIMARY KEY,
  compiler varchar NOT NULL,
  version varchar NOT NULL,
  language varchar NOT NULL,
  name varchar NOT NULL,
  fully_qualified_name varchar NOT NULL,
  compiler_settings jsonb NOT NULL,
  compilation_artifacts jsonb NOT NULL,
  creation_code_hash bytea REFERENCES code (code_hash),
  creation_code_artifacts jsonb,
  runtime_code_hash bytea REFERENCES code (code_hash),
  runtime_code_artifacts jsonb,
  -- The text of metadata.json, byte for byte, and its sha256: beside the Verifier Alliance's columns.
  metadata text,
  metadata_hash bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  created_by varchar NOT NULL DEFAULT current_user,
  updated_by varchar NOT NULL DEFAULT current_user,
  CONSTRAINT metadata_hash_is_sha256
    CHECK (metadata_hash IS NOT DISTINCT FROM sha256(convert_to(metadata, 'UTF8'))),
  CONSTRAINT compiled_contracts_are_distinct UNIQUE NULLS NOT DISTINCT
    (compiler, language, creation_code_hash, runtime_code_hash, metadata_hash)
);
CREATE INDEX compiled_contracts_runtime_code_hash ON compiled_contracts (runtime_code_hash);

CREATE TABLE compiled_contracts_sources (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  compilation_id uuid NOT NULL REFERENCES compiled_contracts (id),
  path varchar NOT NULL,
  source_hash bytea NOT NULL REFERENCES sources (source_hash)
);
-- A path is data of any length, so its hash stands in the index: an index entry holds 2,700 bytes at most.
-- convert_to counts as changeable, since conversions can be redefined; to UTF8 it is fixed.
CREATE FUNCTION hash_path(path varchar) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT sha256(convert_to(path, 'UTF8'))
$$;
CREATE UNIQUE INDEX compiled_contracts_sources_are_distinct
  ON compiled_contracts_sources (compilation_id, hash_path(path));
CREATE INDEX compiled_contracts_sources_source_hash ON compiled_contracts_sources (source_hash);

CREATE TABLE verified_contracts (
  id bigserial PRIMARY KEY,
  deployment_id uuid NOT NULL REFERENCES contract_deployments (id),
  compilation_id uuid NOT NULL REFERENCES compiled_contracts (id),
  creation_match boolean NOT NULL,
  creation_values jsonb,
  creation_transformations jsonb,
  creation_metadata_match boolean,
  runtime_match boolean NOT NULL,
  runtime_values jsonb,
  runtime_transformations jsonb,
  runtime_metadata_match boolean,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  created_by varchar NOT NULL DEFAULT current_user,
  updated_by varchar NOT NULL DEFAULT current_user,
  CONSTRAINT verified_contracts_are_distinct UNIQUE (compilation_id, deployment_id),
  CONSTRAINT something_matches CHECK (creation_match OR runtime_match),
  CONSTRAINT creation_match_says_metadata CHECK (creation_match = (creation_metadata_match IS NOT NULL)),
  CONSTRAINT runtime_match_says_metadata CHECK (runtime_match = (runtime_metadata_match IS NOT NULL))
);
CREATE INDEX verified_contracts_deployment_id ON verified_contracts (deployment_id);

-- The second part is this service's own.

-- The order of the labels is the order of the law: partial < full.
CREATE TYPE match AS ENUM ('partial', 'full');
CREATE TYPE match_origin AS ENUM ('verified', 'imported', 'monitored');
CREATE TYPE match_event_kind AS ENUM ('stored', 'upgraded', 'withdrawn', 'corrected');

-- The event log: append-only, and the truth. The current matches and the counts are a function of it.
-- 'stored': the address had no match; 'upgraded': a match rose, or the judgement of the other code joined it;
-- 'withdrawn': by an operator, with a reason; 'corrected': a recount mended rows, and changes no match.
CREATE TABLE match_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind match_event_kind NOT NULL,
  chain_id bigint NOT NULL,
  address bytea CHECK (octet_length(address) = 20),
  match_before match,
  match_after match,
  runtime_match match,
  creation_match match,
  origin match_origin,
  verified_contract_id bigint REFERENCES verified_contracts (id),
  reason text,
  CONSTRAINT match_after_is_the_better
    CHECK (kind = 'corrected' OR match_after IS NOT DISTINCT FROM greatest(runtime_match, creation_match)),
  CONSTRAINT kind_fits CHECK (CASE kind
    WHEN 'stored' THEN match_before IS NULL AND match_after IS NOT NULL
    WHEN 'upgraded' THEN match_before IS NOT NULL AND match_after >= match_before
    WHEN 'withdrawn' THEN match_before IS NOT NULL AND match_after IS NULL AND reason IS NOT NULL
    ELSE reason IS NOT NULL END),
  CONSTRAINT only_a_correction_lacks_an_address CHECK (kind = 'corrected' OR address IS NOT NULL)
);
CREATE INDEX match_events_of_address ON match_events (chain_id, address, id);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the table % is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER match_events_are_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON match_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The current match of an address on a chain. match_before is what the last rise replaced.
CREATE TABLE current_matches (
  chain_id bigint NOT NULL CHECK (chain_id BETWEEN 1 AND 9007199254740991),
  address bytea NOT NULL CHECK (octet_length(address) = 20),
  match match NOT NULL GENERATED ALWAYS AS (greatest(runtime_match, creation_match)) STORED,
  runtime_match match,
  creation_match match,
  match_before match,
  origin match_origin NOT NULL,
  verified_contract_id bigint REFERENCES verified_contracts (id),
  first_matched_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, address)
);
CREATE INDEX current_matches_verified_contract_id ON current_matches (verified_contract_id);

-- The law "a match only rises": the better of the two rises, or it stays and neither of the two falls.
CREATE FUNCTION match_rises(old_runtime match, old_creation match, new_runtime match, new_creation match)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT greatest(new_runtime, new_creation) > greatest(old_runtime, old_creation)
    OR greatest(new_runtime, new_creation) = greatest(old_runtime, old_creation)
    AND (old_runtime IS NULL OR coalesce(new_runtime >= old_runtime, false))
    AND (old_creation IS NULL OR coalesce(new_creation >= old_creation, false))
    AND (new_runtime IS DISTINCT FROM old_runtime OR new_creation IS DISTINCT FROM old_creation)
$$;

-- The counts per chain, as stats.json shows them. A row is never deleted: a key never vanishes.
CREATE TABLE chain_counts (
  chain_id bigint PRIMARY KEY,
  full_match bigint NOT NULL DEFAULT 0 CHECK (full_match >= 0),
  partial_match bigint NOT NULL DEFAULT 0 CHECK (partial_match >= 0),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- When each rendering of GET /chains first appeared, by its sha256: Last-Modified is the same on every replica.
CREATE TABLE chain_documents (
  sha256 bytea PRIMARY KEY,
  first_published_at timestamptz NOT NULL DEFAULT now()
);
