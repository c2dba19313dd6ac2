-- The schema that the migrations give. Made by npm run schema; a test keeps it equal.

CREATE TYPE creation_state AS ENUM ('waiting', 'verifying', 'verified', 'given_up', 'gone');

CREATE TYPE match AS ENUM ('partial', 'full');

CREATE TYPE match_event_kind AS ENUM ('stored', 'upgraded', 'withdrawn', 'corrected');

CREATE TYPE match_origin AS ENUM ('verified', 'imported', 'monitored');

CREATE TYPE match_trust AS ENUM ('claimed', 'rechecked', 'recompiled', 'verified');

CREATE TYPE verification_job_state AS ENUM ('queued', 'running', 'succeeded', 'failed');

CREATE OR REPLACE FUNCTION public.count_added_signatures()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE signature_totals SET
    verified = signature_totals.verified + change.verified, unverified = signature_totals.unverified + change.unverified
  FROM (
    SELECT kind, count(*) FILTER (WHERE compilations > 0) AS verified,
      count(*) FILTER (WHERE compilations = 0) AS unverified
    FROM added GROUP BY kind
  ) AS change WHERE change.kind = signature_totals.kind;
  RETURN NULL;
END
$function$
;

CREATE OR REPLACE FUNCTION public.count_changed_signatures()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE signature_totals SET
    verified = signature_totals.verified + change.risen, unverified = signature_totals.unverified - change.risen
  FROM (
    SELECT kind, sum(risen) AS risen FROM (
      SELECT kind, count(*) FILTER (WHERE compilations > 0) AS risen FROM after GROUP BY kind
      UNION ALL
      SELECT kind, -count(*) FILTER (WHERE compilations > 0) FROM before GROUP BY kind
    ) AS side GROUP BY kind
  ) AS change WHERE change.kind = signature_totals.kind AND change.risen <> 0;
  RETURN NULL;
END
$function$
;

CREATE OR REPLACE FUNCTION public.hash_path(path character varying)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$
  SELECT sha256(convert_to(path, 'UTF8'))
$function$
;

CREATE OR REPLACE FUNCTION public.match_rises(old_runtime match, old_creation match, new_runtime match, new_creation match, same_text boolean)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT greatest(new_runtime, new_creation) > greatest(old_runtime, old_creation)
    OR greatest(new_runtime, new_creation) = greatest(old_runtime, old_creation)
    AND coalesce(same_text, false)
    AND (old_runtime IS NULL OR coalesce(new_runtime >= old_runtime, false))
    AND (old_creation IS NULL OR coalesce(new_creation >= old_creation, false))
    AND (new_runtime IS DISTINCT FROM old_runtime OR new_creation IS DISTINCT FROM old_creation)
$function$
;

CREATE OR REPLACE FUNCTION public.name_endings(name character varying)
 RETURNS SETOF text
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$
  WITH words AS (
    SELECT string_to_array(btrim(regexp_replace(regexp_replace(regexp_replace(left(name, 100),
      '([a-z0-9])([A-Z])', '\1 \2', 'g'), '([A-Z])([A-Z][a-z])', '\1 \2', 'g'), '[_$ ]+', ' ', 'g')), ' ') AS word
  )
  SELECT lower(left(name, 100))
  UNION
  SELECT lower(array_to_string(word[first:], '')) FROM words, generate_series(1, least(cardinality(word), 20)) AS first
$function$
;

CREATE OR REPLACE FUNCTION public.queue_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  -- A dump that is loaded holds the queue too.
  INSERT INTO feed_queue (event_id) SELECT id FROM added ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'the table % is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_late_sources()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.trust_of_event(trust match_trust, origin match_origin)
 RETURNS match_trust
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT coalesce(trust, CASE origin WHEN 'imported' THEN 'claimed' ELSE 'verified' END::match_trust)
$function$
;

CREATE TABLE access_tokens (
  name text NOT NULL,
  digest bytea NOT NULL,
  per_hour integer,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone,
  CONSTRAINT access_tokens_digest_check CHECK ((octet_length(digest) = 32)),
  CONSTRAINT access_tokens_name_check CHECK ((name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'::text)),
  CONSTRAINT access_tokens_per_hour_check CHECK ((per_hour > 0)),
  CONSTRAINT access_tokens_pkey PRIMARY KEY (name),
  CONSTRAINT access_tokens_digest_key UNIQUE (digest)
);

CREATE TABLE alternative_matches (
  chain_id bigint NOT NULL,
  address bytea NOT NULL,
  text_hash bytea NOT NULL,
  verified_contract_id bigint NOT NULL,
  recorded_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT alternative_matches_chain_id_address_fkey FOREIGN KEY (chain_id, address) REFERENCES current_matches(chain_id, address) ON DELETE CASCADE,
  CONSTRAINT alternative_matches_verified_contract_id_fkey FOREIGN KEY (verified_contract_id) REFERENCES verified_contracts(id),
  CONSTRAINT alternative_matches_pkey PRIMARY KEY (chain_id, address, text_hash)
);

CREATE TABLE chain_activity (
  chain_id bigint NOT NULL,
  events bigint NOT NULL DEFAULT 0,
  codes bigint NOT NULL DEFAULT 0,
  first_verified_at timestamp with time zone,
  last_verified_at timestamp with time zone,
  full_match bigint NOT NULL DEFAULT 0,
  partial_match bigint NOT NULL DEFAULT 0,
  full_claims bigint NOT NULL DEFAULT 0,
  partial_claims bigint NOT NULL DEFAULT 0,
  CONSTRAINT chain_activity_pkey PRIMARY KEY (chain_id)
);

CREATE TABLE chain_counts (
  chain_id bigint NOT NULL,
  full_match bigint NOT NULL DEFAULT 0,
  partial_match bigint NOT NULL DEFAULT 0,
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT chain_counts_full_match_check CHECK ((full_match >= 0)),
  CONSTRAINT chain_counts_partial_match_check CHECK ((partial_match >= 0)),
  CONSTRAINT chain_counts_pkey PRIMARY KEY (chain_id)
);

CREATE TABLE chain_documents (
  sha256 bytea NOT NULL,
  first_published_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT chain_documents_pkey PRIMARY KEY (sha256)
);

CREATE TABLE chain_list_held_records (
  snapshot_id bigint NOT NULL,
  chain_id bigint NOT NULL,
  record json NOT NULL,
  CONSTRAINT chain_list_held_records_snapshot_id_fkey FOREIGN KEY (snapshot_id) REFERENCES chain_list_snapshots(id) ON DELETE CASCADE,
  CONSTRAINT chain_list_held_records_pkey PRIMARY KEY (snapshot_id, chain_id)
);

CREATE TABLE chain_list_snapshots (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  sha256 bytea NOT NULL,
  source text NOT NULL,
  chains integer NOT NULL,
  accepted_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT chain_list_snapshots_sha256_fkey FOREIGN KEY (sha256) REFERENCES chain_list_texts(sha256),
  CONSTRAINT chain_list_snapshots_pkey PRIMARY KEY (id)
);

CREATE INDEX chain_list_snapshots_of_source ON public.chain_list_snapshots USING btree (source, id);

CREATE INDEX chain_list_snapshots_of_text ON public.chain_list_snapshots USING btree (sha256);

CREATE TABLE chain_list_sources (
  source text NOT NULL,
  sha256 bytea NOT NULL,
  etag text,
  last_modified text,
  CONSTRAINT chain_list_sources_pkey PRIMARY KEY (source)
);

CREATE TABLE chain_list_sync (
  single boolean NOT NULL DEFAULT true,
  lease_until timestamp with time zone,
  attempted_at timestamp with time zone,
  confirmed_at timestamp with time zone,
  failing_since timestamp with time zone,
  failures integer NOT NULL DEFAULT 0,
  failure_code text,
  failure_message text,
  CONSTRAINT chain_list_sync_single_check CHECK (single),
  CONSTRAINT failures_say_why CHECK ((((failing_since IS NULL) = (failures = 0)) AND ((failing_since IS NULL) = (failure_code IS NULL)) AND ((failing_since IS NULL) = (failure_message IS NULL)))),
  CONSTRAINT chain_list_sync_pkey PRIMARY KEY (single)
);

CREATE TABLE chain_list_texts (
  sha256 bytea NOT NULL,
  gzip bytea NOT NULL,
  CONSTRAINT chain_list_texts_sha256_check CHECK ((octet_length(sha256) = 32)),
  CONSTRAINT chain_list_texts_pkey PRIMARY KEY (sha256)
);

CREATE TABLE claimed_evidence (
  chain_id bigint NOT NULL,
  address bytea NOT NULL,
  verified_contract_id bigint NOT NULL,
  trust match_trust NOT NULL,
  recorded_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT claimed_evidence_trust_check CHECK ((trust < 'verified'::match_trust)),
  CONSTRAINT claimed_evidence_chain_id_address_fkey FOREIGN KEY (chain_id, address) REFERENCES current_matches(chain_id, address) ON DELETE CASCADE,
  CONSTRAINT claimed_evidence_verified_contract_id_fkey FOREIGN KEY (verified_contract_id) REFERENCES verified_contracts(id),
  CONSTRAINT claimed_evidence_pkey PRIMARY KEY (chain_id, address, verified_contract_id)
);

CREATE TABLE client_usage (
  client text NOT NULL,
  spent_ms double precision NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT client_usage_spent_ms_check CHECK ((spent_ms >= (0)::double precision)),
  CONSTRAINT client_usage_pkey PRIMARY KEY (client)
);

CREATE TABLE code (
  code_hash bytea NOT NULL,
  code_hash_keccak bytea NOT NULL,
  code bytea,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  created_by character varying NOT NULL DEFAULT CURRENT_USER,
  updated_by character varying NOT NULL DEFAULT CURRENT_USER,
  CONSTRAINT code_hash_is_sha256 CHECK ((code_hash = sha256(code))),
  CONSTRAINT only_the_unknown_code_is_absent CHECK (((code IS NULL) = (code_hash = '\x'::bytea))),
  CONSTRAINT code_pkey PRIMARY KEY (code_hash)
);

CREATE INDEX code_keccak ON public.code USING btree (code_hash_keccak);

CREATE TABLE code_rechecks (
  chain_id bigint NOT NULL,
  after_address bytea NOT NULL DEFAULT '\x'::bytea,
  next_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT code_rechecks_pkey PRIMARY KEY (chain_id)
);

CREATE TABLE compiled_contracts (
  id uuid NOT NULL,
  compiler character varying NOT NULL,
  version character varying NOT NULL,
  language character varying NOT NULL,
  name character varying NOT NULL,
  fully_qualified_name character varying NOT NULL,
  compiler_settings jsonb NOT NULL,
  compilation_artifacts jsonb NOT NULL,
  creation_code_hash bytea,
  creation_code_artifacts jsonb,
  runtime_code_hash bytea,
  runtime_code_artifacts jsonb,
  metadata text,
  metadata_hash bytea,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  created_by character varying NOT NULL DEFAULT CURRENT_USER,
  updated_by character varying NOT NULL DEFAULT CURRENT_USER,
  additional_input jsonb,
  are_codes_claimed boolean NOT NULL DEFAULT false,
  CONSTRAINT metadata_hash_is_sha256 CHECK ((NOT (metadata_hash IS DISTINCT FROM sha256(convert_to(metadata, 'UTF8'::name))))),
  CONSTRAINT compiled_contracts_creation_code_hash_fkey FOREIGN KEY (creation_code_hash) REFERENCES code(code_hash),
  CONSTRAINT compiled_contracts_runtime_code_hash_fkey FOREIGN KEY (runtime_code_hash) REFERENCES code(code_hash),
  CONSTRAINT compiled_contracts_pkey PRIMARY KEY (id)
);

CREATE INDEX compiled_contracts_runtime_code_hash ON public.compiled_contracts USING btree (runtime_code_hash);

CREATE TRIGGER compiled_contracts_are_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.compiled_contracts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE compiled_contracts_sources (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  compilation_id uuid NOT NULL,
  path character varying NOT NULL,
  source_hash bytea NOT NULL,
  CONSTRAINT compiled_contracts_sources_compilation_id_fkey FOREIGN KEY (compilation_id) REFERENCES compiled_contracts(id),
  CONSTRAINT compiled_contracts_sources_source_hash_fkey FOREIGN KEY (source_hash) REFERENCES sources(source_hash),
  CONSTRAINT compiled_contracts_sources_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX compiled_contracts_sources_are_distinct ON public.compiled_contracts_sources USING btree (compilation_id, hash_path(path));

CREATE INDEX compiled_contracts_sources_source_hash ON public.compiled_contracts_sources USING btree (source_hash);

CREATE TRIGGER compiled_contracts_sources_are_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.compiled_contracts_sources FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER compiled_contracts_sources_come_with_it AFTER INSERT ON public.compiled_contracts_sources REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_late_sources();

CREATE TABLE compiler_counts (
  chain_id bigint NOT NULL,
  origin match_origin NOT NULL,
  language character varying NOT NULL,
  version character varying NOT NULL,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL,
  trust match_trust NOT NULL,
  CONSTRAINT compiler_counts_pkey PRIMARY KEY (chain_id, origin, trust, language, version)
);

CREATE TABLE contract_deployments (
  id uuid NOT NULL,
  chain_id bigint NOT NULL,
  address bytea NOT NULL,
  transaction_hash bytea,
  block_number numeric,
  transaction_index numeric,
  deployer bytea,
  contract_id uuid,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  created_by character varying NOT NULL DEFAULT CURRENT_USER,
  updated_by character varying NOT NULL DEFAULT CURRENT_USER,
  claimed_contract_id uuid,
  claimed_block_number numeric,
  claimed_transaction_index numeric,
  claimed_deployer bytea,
  CONSTRAINT contract_deployments_address_check CHECK ((octet_length(address) = 20)),
  CONSTRAINT contract_deployments_chain_id_check CHECK (((chain_id >= 1) AND (chain_id <= '9007199254740991'::bigint))),
  CONSTRAINT contract_deployments_claimed_deployer_check CHECK ((octet_length(claimed_deployer) = 20)),
  CONSTRAINT contract_deployments_deployer_check CHECK ((octet_length(deployer) = 20)),
  CONSTRAINT contract_deployments_transaction_hash_check CHECK ((octet_length(transaction_hash) = 32)),
  CONSTRAINT contract_deployments_claimed_contract_id_fkey FOREIGN KEY (claimed_contract_id) REFERENCES contracts(id),
  CONSTRAINT contract_deployments_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES contracts(id),
  CONSTRAINT contract_deployments_pkey PRIMARY KEY (id),
  CONSTRAINT contract_deployments_are_distinct UNIQUE NULLS NOT DISTINCT (chain_id, address, transaction_hash, contract_id, claimed_contract_id)
);

CREATE INDEX contract_deployments_claimed_contract_id ON public.contract_deployments USING btree (claimed_contract_id) WHERE (claimed_contract_id IS NOT NULL);

CREATE INDEX contract_deployments_contract_id ON public.contract_deployments USING btree (contract_id);

CREATE INDEX contract_deployments_transaction_hash ON public.contract_deployments USING btree (transaction_hash) WHERE (transaction_hash IS NOT NULL);

CREATE TABLE contract_names (
  compilation_id uuid NOT NULL,
  ending text NOT NULL,
  CONSTRAINT contract_names_compilation_id_fkey FOREIGN KEY (compilation_id) REFERENCES compiled_contracts(id) ON DELETE CASCADE,
  CONSTRAINT contract_names_pkey PRIMARY KEY (compilation_id, ending)
);

CREATE INDEX contract_names_by_ending ON public.contract_names USING btree (ending, compilation_id);

CREATE TABLE contracts (
  id uuid NOT NULL,
  creation_code_hash bytea,
  runtime_code_hash bytea,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  created_by character varying NOT NULL DEFAULT CURRENT_USER,
  updated_by character varying NOT NULL DEFAULT CURRENT_USER,
  CONSTRAINT contracts_creation_code_hash_fkey FOREIGN KEY (creation_code_hash) REFERENCES code(code_hash),
  CONSTRAINT contracts_runtime_code_hash_fkey FOREIGN KEY (runtime_code_hash) REFERENCES code(code_hash),
  CONSTRAINT contracts_pkey PRIMARY KEY (id),
  CONSTRAINT contracts_are_distinct UNIQUE NULLS NOT DISTINCT (creation_code_hash, runtime_code_hash)
);

CREATE INDEX contracts_runtime_code_hash ON public.contracts USING btree (runtime_code_hash);

CREATE TABLE current_matches (
  chain_id bigint NOT NULL,
  address bytea NOT NULL,
  match match NOT NULL GENERATED ALWAYS AS (GREATEST(runtime_match, creation_match)) STORED,
  runtime_match match,
  creation_match match,
  match_before match,
  origin match_origin NOT NULL,
  verified_contract_id bigint,
  first_matched_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  runtime_code_hash bytea,
  text_hash bytea,
  trust match_trust NOT NULL DEFAULT 'verified'::match_trust,
  CONSTRAINT current_matches_address_check CHECK ((octet_length(address) = 20)),
  CONSTRAINT current_matches_chain_id_check CHECK (((chain_id >= 1) AND (chain_id <= '9007199254740991'::bigint))),
  CONSTRAINT only_imports_are_less_than_verified CHECK (((origin = 'imported'::match_origin) = (trust < 'verified'::match_trust))),
  CONSTRAINT current_matches_verified_contract_id_fkey FOREIGN KEY (verified_contract_id) REFERENCES verified_contracts(id),
  CONSTRAINT current_matches_pkey PRIMARY KEY (chain_id, address)
);

CREATE INDEX current_matches_newest ON public.current_matches USING btree (match, origin, trust, verified_contract_id);

CREATE INDEX current_matches_newest_of_chain ON public.current_matches USING btree (chain_id, match, origin, trust, verified_contract_id);

CREATE INDEX current_matches_of_address ON public.current_matches USING btree (address, chain_id);

CREATE INDEX current_matches_of_chain ON public.current_matches USING btree (chain_id, verified_contract_id);

CREATE INDEX current_matches_of_code ON public.current_matches USING btree (runtime_code_hash, verified_contract_id) WHERE (runtime_code_hash IS NOT NULL);

CREATE TABLE daily_counts (
  chain_id bigint NOT NULL,
  day date NOT NULL,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL,
  full_claims bigint NOT NULL DEFAULT 0,
  partial_claims bigint NOT NULL DEFAULT 0,
  CONSTRAINT daily_counts_pkey PRIMARY KEY (chain_id, day)
);

CREATE TABLE daily_falls (
  chain_id bigint NOT NULL,
  day date NOT NULL,
  reason text NOT NULL,
  reason_hash bytea NOT NULL GENERATED ALWAYS AS (hash_path((reason)::character varying)) STORED,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL,
  full_claims bigint NOT NULL DEFAULT 0,
  partial_claims bigint NOT NULL DEFAULT 0,
  CONSTRAINT daily_falls_pkey PRIMARY KEY (day, chain_id, reason_hash)
);

CREATE TABLE daily_totals (
  day date NOT NULL,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL,
  full_claims bigint NOT NULL DEFAULT 0,
  partial_claims bigint NOT NULL DEFAULT 0,
  CONSTRAINT daily_totals_pkey PRIMARY KEY (day)
);

CREATE TABLE event_inputs (
  signature_hash bytea NOT NULL,
  indexed text NOT NULL,
  inputs jsonb NOT NULL,
  CONSTRAINT event_inputs_indexed_check CHECK ((octet_length(indexed) <= 2000)),
  CONSTRAINT event_inputs_signature_hash_check CHECK ((octet_length(signature_hash) = 32)),
  CONSTRAINT event_inputs_pkey PRIMARY KEY (signature_hash, indexed)
);

CREATE TABLE external_verifications (
  job_id uuid NOT NULL,
  explorer text NOT NULL,
  state text NOT NULL DEFAULT 'waiting'::text,
  external_id text,
  error text,
  links jsonb NOT NULL DEFAULT '{}'::jsonb,
  attempts integer NOT NULL DEFAULT 0,
  next_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT external_verifications_explorer_check CHECK ((explorer = ANY (ARRAY['etherscan'::text, 'blockscout'::text, 'routescan'::text]))),
  CONSTRAINT external_verifications_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'submitted'::text, 'verified'::text, 'failed'::text]))),
  CONSTRAINT external_verifications_job_id_fkey FOREIGN KEY (job_id) REFERENCES verification_jobs(id) ON DELETE CASCADE,
  CONSTRAINT external_verifications_pkey PRIMARY KEY (job_id, explorer)
);

CREATE INDEX external_verifications_due ON public.external_verifications USING btree (next_at) WHERE (state = ANY (ARRAY['waiting'::text, 'submitted'::text]));

CREATE TABLE feed (
  position bigint NOT NULL,
  event_id bigint NOT NULL,
  CONSTRAINT feed_pkey PRIMARY KEY ("position"),
  CONSTRAINT feed_event_id_key UNIQUE (event_id)
);

CREATE TRIGGER feed_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.feed FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE feed_followers (
  name text NOT NULL,
  position bigint NOT NULL,
  CONSTRAINT feed_followers_pkey PRIMARY KEY (name)
);

CREATE TABLE feed_queue (
  event_id bigint NOT NULL,
  CONSTRAINT feed_queue_pkey PRIMARY KEY (event_id)
);

CREATE TABLE forgotten_creations (
  chain_id bigint NOT NULL,
  state creation_state NOT NULL,
  reason text NOT NULL DEFAULT ''::text,
  creations bigint NOT NULL DEFAULT 0,
  CONSTRAINT forgotten_creations_pkey PRIMARY KEY (chain_id, state, reason)
);

CREATE TABLE hidden_sources (
  chain_id bigint NOT NULL,
  address bytea NOT NULL,
  CONSTRAINT hidden_sources_address_check CHECK ((octet_length(address) = 20)),
  CONSTRAINT hidden_sources_chain_id_check CHECK (((chain_id >= 1) AND (chain_id <= '9007199254740991'::bigint))),
  CONSTRAINT hidden_sources_pkey PRIMARY KEY (chain_id, address)
);

CREATE TABLE hourly_totals (
  hour timestamp with time zone NOT NULL,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL,
  full_claims bigint NOT NULL DEFAULT 0,
  partial_claims bigint NOT NULL DEFAULT 0,
  CONSTRAINT hourly_totals_pkey PRIMARY KEY (hour)
);

CREATE TABLE immutable_types (
  compilation_id uuid NOT NULL,
  types jsonb NOT NULL,
  CONSTRAINT immutable_types_compilation_id_fkey FOREIGN KEY (compilation_id) REFERENCES compiled_contracts(id),
  CONSTRAINT immutable_types_pkey PRIMARY KEY (compilation_id)
);

CREATE TABLE import_cursors (
  url text NOT NULL,
  cursor text NOT NULL,
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT import_cursors_url_check CHECK ((octet_length(url) <= 2048)),
  CONSTRAINT import_cursors_pkey PRIMARY KEY (url)
);

CREATE TABLE indexed_compilations (
  compilation_id uuid NOT NULL,
  uses bigint NOT NULL DEFAULT 0,
  is_code_indexed boolean NOT NULL DEFAULT false,
  project_hash bytea,
  are_others_indexed boolean NOT NULL DEFAULT false,
  CONSTRAINT indexed_compilations_project_hash_check CHECK ((octet_length(project_hash) = 32)),
  CONSTRAINT indexed_compilations_compilation_id_fkey FOREIGN KEY (compilation_id) REFERENCES compiled_contracts(id),
  CONSTRAINT indexed_compilations_pkey PRIMARY KEY (compilation_id)
);

CREATE INDEX indexed_compilations_of_project ON public.indexed_compilations USING btree (project_hash) WHERE are_others_indexed;

CREATE INDEX indexed_compilations_without_code ON public.indexed_compilations USING btree (compilation_id) WHERE (NOT is_code_indexed);

CREATE TABLE known_codes (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  plain_hash bytea NOT NULL,
  masked_hash bytea NOT NULL,
  prefix_hash bytea NOT NULL,
  length integer NOT NULL,
  constants bigint[] NOT NULL,
  CONSTRAINT known_codes_length_check CHECK ((length > 0)),
  CONSTRAINT known_codes_masked_hash_check CHECK ((octet_length(masked_hash) = 32)),
  CONSTRAINT known_codes_plain_hash_check CHECK ((octet_length(plain_hash) = 32)),
  CONSTRAINT known_codes_prefix_hash_check CHECK ((octet_length(prefix_hash) = 32)),
  CONSTRAINT known_codes_pkey PRIMARY KEY (id),
  CONSTRAINT known_codes_plain_hash_key UNIQUE (plain_hash)
);

CREATE INDEX known_codes_masked ON public.known_codes USING btree (masked_hash, id);

CREATE INDEX known_codes_similar ON public.known_codes USING btree (prefix_hash, length);

CREATE TABLE known_contracts (
  compilation_id uuid NOT NULL,
  known_code_id bigint NOT NULL,
  fully_qualified_name character varying NOT NULL,
  metadata_key bytea,
  is_compiled boolean NOT NULL,
  CONSTRAINT known_contracts_metadata_key_check CHECK ((octet_length(metadata_key) = 32)),
  CONSTRAINT known_contracts_compilation_id_fkey FOREIGN KEY (compilation_id) REFERENCES compiled_contracts(id),
  CONSTRAINT known_contracts_known_code_id_fkey FOREIGN KEY (known_code_id) REFERENCES known_codes(id)
);

CREATE UNIQUE INDEX known_contracts_are_distinct ON public.known_contracts USING btree (compilation_id, hash_path(fully_qualified_name));

CREATE INDEX known_contracts_by_metadata ON public.known_contracts USING btree (metadata_key) WHERE (metadata_key IS NOT NULL);

CREATE INDEX known_contracts_of_code ON public.known_contracts USING btree (known_code_id, is_compiled);

CREATE TABLE match_events (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  recorded_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  kind match_event_kind NOT NULL,
  chain_id bigint NOT NULL,
  address bytea,
  match_before match,
  match_after match,
  runtime_match match,
  creation_match match,
  origin match_origin,
  verified_contract_id bigint,
  reason text,
  read_at_block bigint,
  trust match_trust,
  CONSTRAINT kind_fits CHECK (
CASE kind
    WHEN 'stored'::match_event_kind THEN ((match_before IS NULL) AND (match_after IS NOT NULL))
    WHEN 'upgraded'::match_event_kind THEN ((match_before IS NOT NULL) AND (match_after >= match_before))
    WHEN 'withdrawn'::match_event_kind THEN ((match_before IS NOT NULL) AND (match_after IS NULL) AND (reason IS NOT NULL))
    ELSE (reason IS NOT NULL)
END),
  CONSTRAINT match_after_is_the_better CHECK (((kind = 'corrected'::match_event_kind) OR (NOT (match_after IS DISTINCT FROM GREATEST(runtime_match, creation_match))))),
  CONSTRAINT match_events_address_check CHECK ((octet_length(address) = 20)),
  CONSTRAINT only_a_correction_lacks_an_address CHECK (((kind = 'corrected'::match_event_kind) OR (address IS NOT NULL))),
  CONSTRAINT match_events_verified_contract_id_fkey FOREIGN KEY (verified_contract_id) REFERENCES verified_contracts(id),
  CONSTRAINT match_events_pkey PRIMARY KEY (id)
);

CREATE INDEX match_events_of_address ON public.match_events USING btree (chain_id, address, id);

CREATE TRIGGER match_events_are_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.match_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER match_events_are_queued AFTER INSERT ON public.match_events REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION queue_events();

CREATE TABLE monitor_backfills (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  chain_id bigint NOT NULL,
  first_block bigint NOT NULL,
  last_block bigint NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  next_try_at timestamp with time zone NOT NULL DEFAULT now(),
  fault_code text,
  fault_message text,
  requested_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT backfills_are_ordered CHECK ((last_block >= first_block)),
  CONSTRAINT monitor_backfills_chain_id_check CHECK (((chain_id >= 1) AND (chain_id <= '9007199254740991'::bigint))),
  CONSTRAINT monitor_backfills_first_block_check CHECK ((first_block >= 0)),
  CONSTRAINT monitor_backfills_pkey PRIMARY KEY (id)
);

CREATE INDEX monitor_backfills_of_chain ON public.monitor_backfills USING btree (chain_id, next_try_at);

CREATE TABLE monitor_blocks (
  chain_id bigint NOT NULL,
  number bigint NOT NULL,
  hash bytea NOT NULL,
  CONSTRAINT monitor_blocks_hash_check CHECK ((octet_length(hash) = 32)),
  CONSTRAINT monitor_blocks_chain_id_fkey FOREIGN KEY (chain_id) REFERENCES monitor_cursors(chain_id) ON DELETE CASCADE,
  CONSTRAINT monitor_blocks_pkey PRIMARY KEY (chain_id, number)
);

CREATE TABLE monitor_cursors (
  chain_id bigint NOT NULL,
  start_block bigint NOT NULL,
  number bigint NOT NULL,
  hash bytea,
  finalized bigint,
  head bigint,
  current_at timestamp with time zone NOT NULL DEFAULT now(),
  fault_code text,
  fault_message text,
  failing_since timestamp with time zone,
  found bigint NOT NULL DEFAULT 0,
  reorganisations bigint NOT NULL DEFAULT 0,
  reorganised_to bigint,
  reorganised_at timestamp with time zone,
  lease_token uuid,
  lease_until timestamp with time zone,
  CONSTRAINT cursor_faults_say_why CHECK ((((fault_code IS NULL) = (failing_since IS NULL)) AND ((fault_code IS NULL) = (fault_message IS NULL)))),
  CONSTRAINT cursor_leases_have_an_end CHECK (((lease_token IS NULL) = (lease_until IS NULL))),
  CONSTRAINT monitor_cursors_chain_id_check CHECK (((chain_id >= 1) AND (chain_id <= '9007199254740991'::bigint))),
  CONSTRAINT monitor_cursors_check CHECK ((number >= (start_block - 1))),
  CONSTRAINT monitor_cursors_hash_check CHECK ((octet_length(hash) = 32)),
  CONSTRAINT monitor_cursors_start_block_check CHECK ((start_block >= 0)),
  CONSTRAINT monitor_cursors_pkey PRIMARY KEY (chain_id)
);

CREATE TABLE monitor_untraced_blocks (
  chain_id bigint NOT NULL,
  first_block bigint NOT NULL,
  last_block bigint NOT NULL,
  CONSTRAINT untraced_blocks_are_ordered CHECK ((last_block >= first_block)),
  CONSTRAINT monitor_untraced_blocks_pkey PRIMARY KEY (chain_id, first_block)
);

CREATE TABLE schema_migrations (
  number integer NOT NULL,
  name text NOT NULL,
  sha256 text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (number)
);

CREATE TABLE seen_creations (
  chain_id bigint NOT NULL,
  address bytea NOT NULL,
  block_number bigint NOT NULL,
  block_hash bytea NOT NULL,
  transaction_hash bytea NOT NULL,
  transaction_index integer NOT NULL,
  creator bytea NOT NULL,
  factory bytea,
  code_hash bytea,
  masked_hash bytea,
  state creation_state NOT NULL DEFAULT 'waiting'::creation_state,
  tries integer NOT NULL DEFAULT 0,
  next_try_at timestamp with time zone DEFAULT now(),
  reason text,
  detail text,
  job_id uuid,
  lease_token uuid,
  lease_until timestamp with time zone,
  found_at timestamp with time zone NOT NULL DEFAULT now(),
  ended_at timestamp with time zone,
  sources_turn integer,
  CONSTRAINT creation_leases_have_an_end CHECK (((lease_token IS NULL) = (lease_until IS NULL))),
  CONSTRAINT ended_creations_have_a_time CHECK (((state = ANY (ARRAY['verified'::creation_state, 'given_up'::creation_state, 'gone'::creation_state])) = (ended_at IS NOT NULL))),
  CONSTRAINT only_open_creations_are_tried CHECK (((state = ANY (ARRAY['waiting'::creation_state, 'verifying'::creation_state])) = (next_try_at IS NOT NULL))),
  CONSTRAINT seen_creations_address_check CHECK ((octet_length(address) = 20)),
  CONSTRAINT seen_creations_block_hash_check CHECK ((octet_length(block_hash) = 32)),
  CONSTRAINT seen_creations_chain_id_check CHECK (((chain_id >= 1) AND (chain_id <= '9007199254740991'::bigint))),
  CONSTRAINT seen_creations_code_hash_check CHECK ((octet_length(code_hash) = 32)),
  CONSTRAINT seen_creations_creator_check CHECK ((octet_length(creator) = 20)),
  CONSTRAINT seen_creations_factory_check CHECK ((octet_length(factory) = 20)),
  CONSTRAINT seen_creations_masked_hash_check CHECK ((octet_length(masked_hash) = 32)),
  CONSTRAINT seen_creations_transaction_hash_check CHECK ((octet_length(transaction_hash) = 32)),
  CONSTRAINT seen_creations_pkey PRIMARY KEY (chain_id, address, block_number)
);

CREATE INDEX seen_creations_by_block ON public.seen_creations USING btree (chain_id, block_number);

CREATE INDEX seen_creations_by_mask ON public.seen_creations USING btree (masked_hash) WHERE ((state = ANY (ARRAY['waiting'::creation_state, 'given_up'::creation_state])) AND (masked_hash IS NOT NULL));

CREATE INDEX seen_creations_by_state ON public.seen_creations USING btree (chain_id, state, reason);

CREATE INDEX seen_creations_by_turn ON public.seen_creations USING btree (chain_id, creator) WHERE ((state = 'waiting'::creation_state) AND (sources_turn IS NOT NULL));

CREATE INDEX seen_creations_due ON public.seen_creations USING btree (chain_id, next_try_at) WHERE ((state = 'waiting'::creation_state) AND (sources_turn IS NULL));

CREATE INDEX seen_creations_ended ON public.seen_creations USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX seen_creations_found ON public.seen_creations USING btree (found_at);

CREATE INDEX seen_creations_verifying ON public.seen_creations USING btree (job_id) WHERE (state = 'verifying'::creation_state);

CREATE INDEX seen_creations_without_sources ON public.seen_creations USING btree (chain_id, sources_turn, next_try_at) WHERE ((state = 'waiting'::creation_state) AND (sources_turn IS NOT NULL));

CREATE TABLE set_aside_settings (
  compilation_id uuid NOT NULL,
  settings jsonb NOT NULL,
  set_aside_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT set_aside_settings_compilation_id_fkey FOREIGN KEY (compilation_id) REFERENCES compiled_contracts(id)
);

CREATE INDEX set_aside_settings_of_compilation ON public.set_aside_settings USING btree (compilation_id);

CREATE TABLE set_aside_sources (
  compilation_id uuid NOT NULL,
  path character varying NOT NULL,
  source_hash bytea NOT NULL,
  set_aside_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT set_aside_sources_compilation_id_fkey FOREIGN KEY (compilation_id) REFERENCES compiled_contracts(id),
  CONSTRAINT set_aside_sources_source_hash_fkey FOREIGN KEY (source_hash) REFERENCES sources(source_hash)
);

CREATE INDEX set_aside_sources_of_compilation ON public.set_aside_sources USING btree (compilation_id);

CREATE TABLE signature_totals (
  kind text NOT NULL,
  verified bigint NOT NULL DEFAULT 0,
  unverified bigint NOT NULL DEFAULT 0,
  CONSTRAINT signature_totals_pkey PRIMARY KEY (kind)
);

CREATE TABLE signatures (
  signature_hash bytea NOT NULL,
  kind text NOT NULL,
  signature text NOT NULL,
  compilations bigint NOT NULL DEFAULT 0,
  CONSTRAINT signatures_compilations_check CHECK ((compilations >= 0)),
  CONSTRAINT signatures_kind_check CHECK ((kind = ANY (ARRAY['function'::text, 'event'::text, 'error'::text]))),
  CONSTRAINT signatures_signature_check CHECK (((octet_length(signature) >= 1) AND (octet_length(signature) <= 2000))),
  CONSTRAINT signatures_signature_hash_check CHECK ((octet_length(signature_hash) = 32)),
  CONSTRAINT signatures_pkey PRIMARY KEY (signature_hash, kind)
);

CREATE INDEX signatures_by_text ON public.signatures USING btree (signature, kind);

CREATE TRIGGER added_signatures_are_counted AFTER INSERT ON public.signatures REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_signatures();

CREATE TRIGGER changed_signatures_are_counted AFTER UPDATE ON public.signatures REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_changed_signatures();

CREATE TABLE signed_compilations (
  compilation_id uuid NOT NULL,
  is_counted boolean NOT NULL DEFAULT false,
  is_due boolean NOT NULL DEFAULT true,
  CONSTRAINT signed_compilations_compilation_id_fkey FOREIGN KEY (compilation_id) REFERENCES compiled_contracts(id),
  CONSTRAINT signed_compilations_pkey PRIMARY KEY (compilation_id)
);

CREATE INDEX signed_compilations_due ON public.signed_compilations USING btree (compilation_id) WHERE is_due;

CREATE TABLE sources (
  source_hash bytea NOT NULL,
  source_hash_keccak bytea NOT NULL,
  content text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  created_by character varying NOT NULL DEFAULT CURRENT_USER,
  updated_by character varying NOT NULL DEFAULT CURRENT_USER,
  CONSTRAINT source_hash_is_sha256 CHECK ((source_hash = sha256(convert_to(content, 'UTF8'::name)))),
  CONSTRAINT sources_pkey PRIMARY KEY (source_hash)
);

CREATE INDEX sources_source_hash_keccak ON public.sources USING btree (source_hash_keccak);

CREATE TABLE verification_jobs (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  state verification_job_state NOT NULL DEFAULT 'queued'::verification_job_state,
  chain_id bigint NOT NULL,
  address bytea NOT NULL,
  request bytea,
  input_hash bytea NOT NULL,
  client text,
  turn bigint NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  cancel_requested boolean NOT NULL DEFAULT false,
  lease_token uuid,
  lease_until timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  compile_time_ms integer,
  runtime_match match,
  creation_match match,
  event_id bigint,
  error_code text,
  error_message text,
  error_id uuid,
  error_data jsonb,
  kept_beside boolean NOT NULL DEFAULT false,
  dropped_sources jsonb,
  claimed_at timestamp with time zone,
  network text DEFAULT 'unknown'::text,
  awaited_compiler text,
  awaited_until timestamp with time zone,
  awaited_bytes bigint,
  awaited_total_bytes bigint,
  compiler_waits integer NOT NULL DEFAULT 0,
  changed_settings jsonb,
  CONSTRAINT awaited_compilers_have_a_time CHECK (((awaited_compiler IS NULL) = (awaited_until IS NULL))),
  CONSTRAINT failed_jobs_say_why CHECK ((((state = 'failed'::verification_job_state) = (error_code IS NOT NULL)) AND ((state = 'failed'::verification_job_state) = (error_id IS NOT NULL)))),
  CONSTRAINT finished_jobs_have_a_time CHECK (((state = ANY (ARRAY['succeeded'::verification_job_state, 'failed'::verification_job_state])) = (finished_at IS NOT NULL))),
  CONSTRAINT running_jobs_have_a_lease CHECK ((((state = 'running'::verification_job_state) = (lease_token IS NOT NULL)) AND ((state = 'running'::verification_job_state) = (lease_until IS NOT NULL)))),
  CONSTRAINT succeeded_jobs_have_a_match CHECK (((state = 'succeeded'::verification_job_state) = (GREATEST(runtime_match, creation_match) IS NOT NULL))),
  CONSTRAINT unfinished_jobs_have_a_request CHECK (((state = ANY (ARRAY['succeeded'::verification_job_state, 'failed'::verification_job_state])) OR (request IS NOT NULL))),
  CONSTRAINT verification_jobs_address_check CHECK ((octet_length(address) = 20)),
  CONSTRAINT verification_jobs_chain_id_check CHECK (((chain_id >= 1) AND (chain_id <= '9007199254740991'::bigint))),
  CONSTRAINT verification_jobs_input_hash_check CHECK ((octet_length(input_hash) = 32)),
  CONSTRAINT verification_jobs_event_id_fkey FOREIGN KEY (event_id) REFERENCES match_events(id),
  CONSTRAINT verification_jobs_pkey PRIMARY KEY (id)
);

CREATE INDEX verification_jobs_awaiting ON public.verification_jobs USING btree (awaited_compiler) WHERE (awaited_compiler IS NOT NULL);

CREATE INDEX verification_jobs_failed ON public.verification_jobs USING btree (finished_at) WHERE (state = 'failed'::verification_job_state);

CREATE UNIQUE INDEX verification_jobs_in_flight ON public.verification_jobs USING btree (chain_id, address, input_hash) WHERE (state = ANY (ARRAY['queued'::verification_job_state, 'running'::verification_job_state]));

CREATE INDEX verification_jobs_next_of_network ON public.verification_jobs USING btree (network, client, turn, created_at) WHERE (state = 'queued'::verification_job_state);

CREATE INDEX verification_jobs_of_address ON public.verification_jobs USING btree (chain_id, address, created_at);

CREATE INDEX verification_jobs_of_client ON public.verification_jobs USING btree (client, chain_id, turn) WHERE (state = ANY (ARRAY['queued'::verification_job_state, 'running'::verification_job_state]));

CREATE INDEX verification_jobs_succeeded ON public.verification_jobs USING btree (finished_at) WHERE (state = 'succeeded'::verification_job_state);

CREATE INDEX verification_jobs_with_lease ON public.verification_jobs USING btree (lease_until) WHERE (state = 'running'::verification_job_state);

CREATE TABLE verified_codes (
  code_hash bytea NOT NULL,
  chain_id bigint NOT NULL,
  CONSTRAINT verified_codes_pkey PRIMARY KEY (code_hash)
);

CREATE TABLE verified_contracts (
  id bigint NOT NULL DEFAULT nextval('verified_contracts_id_seq'::regclass),
  deployment_id uuid NOT NULL,
  compilation_id uuid NOT NULL,
  creation_match boolean NOT NULL,
  creation_values jsonb,
  creation_transformations jsonb,
  creation_metadata_match boolean,
  runtime_match boolean NOT NULL,
  runtime_values jsonb,
  runtime_transformations jsonb,
  runtime_metadata_match boolean,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  created_by character varying NOT NULL DEFAULT CURRENT_USER,
  updated_by character varying NOT NULL DEFAULT CURRENT_USER,
  code_reading jsonb,
  creation_search jsonb,
  source text,
  matcher_version integer,
  CONSTRAINT creation_match_says_metadata CHECK ((creation_match = (creation_metadata_match IS NOT NULL))),
  CONSTRAINT runtime_match_says_metadata CHECK ((runtime_match = (runtime_metadata_match IS NOT NULL))),
  CONSTRAINT something_matches CHECK ((creation_match OR runtime_match)),
  CONSTRAINT verified_contracts_source_check CHECK (((octet_length(source) >= 1) AND (octet_length(source) <= 100))),
  CONSTRAINT verified_contracts_compilation_id_fkey FOREIGN KEY (compilation_id) REFERENCES compiled_contracts(id),
  CONSTRAINT verified_contracts_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES contract_deployments(id),
  CONSTRAINT verified_contracts_pkey PRIMARY KEY (id),
  CONSTRAINT verified_contracts_are_distinct UNIQUE (compilation_id, deployment_id)
);

CREATE INDEX verified_contracts_deployment_id ON public.verified_contracts USING btree (deployment_id);

CREATE INDEX verified_contracts_of_compilation ON public.verified_contracts USING btree (compilation_id, id);

CREATE VIEW counted_changes AS
 SELECT event_changes.id,
    event_changes.chain_id,
    event_changes.address,
    event_changes.kind,
    event_changes.recorded_at,
    event_changes.origin,
    event_changes.verified_contract_id,
    event_changes.match_after,
    event_changes.reason,
    event_changes.day,
    event_changes.hour,
    event_changes.full_match,
    event_changes.partial_match,
    event_changes.trust,
    event_changes.full_claims,
    event_changes.partial_claims
   FROM (event_changes
     JOIN feed ON ((feed.event_id = event_changes.id)))
  WHERE (feed."position" <= ( SELECT feed_followers."position"
           FROM feed_followers
          WHERE (feed_followers.name = 'statistics'::text)));

CREATE VIEW event_changes AS
 SELECT id,
    chain_id,
    address,
    kind,
    recorded_at,
    origin,
    verified_contract_id,
    match_after,
    reason,
    ((recorded_at AT TIME ZONE 'UTC'::text))::date AS day,
    (date_trunc('hour'::text, (recorded_at AT TIME ZONE 'UTC'::text)) AT TIME ZONE 'UTC'::text) AS hour,
    ((COALESCE((match_after = 'full'::match), false))::integer - (COALESCE((match_before = 'full'::match), false))::integer) AS full_match,
    ((COALESCE((match_after = 'partial'::match), false))::integer - (COALESCE((match_before = 'partial'::match), false))::integer) AS partial_match,
    trust_of_event(trust, origin) AS trust,
    ((COALESCE(((match_after = 'full'::match) AND (origin = 'imported'::match_origin)), false))::integer - (COALESCE((claim_before = 'full'::match), false))::integer) AS full_claims,
    ((COALESCE(((match_after = 'partial'::match) AND (origin = 'imported'::match_origin)), false))::integer - (COALESCE((claim_before = 'partial'::match), false))::integer) AS partial_claims
   FROM ( SELECT match_events.id,
            match_events.recorded_at,
            match_events.kind,
            match_events.chain_id,
            match_events.address,
            match_events.match_before,
            match_events.match_after,
            match_events.runtime_match,
            match_events.creation_match,
            match_events.origin,
            match_events.verified_contract_id,
            match_events.reason,
            match_events.read_at_block,
            match_events.trust,
                CASE
                    WHEN (match_events.match_before IS NOT NULL) THEN ( SELECT
                            CASE
                                WHEN (earlier.origin = 'imported'::match_origin) THEN match_events.match_before
                                ELSE NULL::match
                            END AS "case"
                       FROM match_events earlier
                      WHERE ((earlier.chain_id = match_events.chain_id) AND (earlier.address = match_events.address) AND (earlier.id < match_events.id) AND (earlier.kind <> 'corrected'::match_event_kind))
                      ORDER BY earlier.id DESC
                     LIMIT 1)
                    ELSE NULL::match
                END AS claim_before
           FROM match_events
          WHERE (match_events.kind <> 'corrected'::match_event_kind)) event;

CREATE VIEW expected_activity AS
 SELECT chain_id,
    count(*) AS events,
    ( SELECT count(*) AS count
           FROM verified_codes
          WHERE (verified_codes.chain_id = counted_changes.chain_id)) AS codes,
    min(recorded_at) FILTER (WHERE (kind <> 'withdrawn'::match_event_kind)) AS first_verified_at,
    max(recorded_at) FILTER (WHERE (kind <> 'withdrawn'::match_event_kind)) AS last_verified_at,
    sum(full_match) AS full_match,
    sum(partial_match) AS partial_match,
    sum(full_claims) AS full_claims,
    sum(partial_claims) AS partial_claims
   FROM counted_changes
  GROUP BY chain_id;

CREATE VIEW expected_codes AS
 SELECT DISTINCT contracts.runtime_code_hash AS code_hash
   FROM (((counted_changes
     JOIN verified_contracts ON ((verified_contracts.id = counted_changes.verified_contract_id)))
     JOIN contract_deployments ON ((contract_deployments.id = verified_contracts.deployment_id)))
     JOIN contracts ON ((contracts.id = contract_deployments.contract_id)))
  WHERE ((counted_changes.kind <> 'withdrawn'::match_event_kind) AND (contracts.runtime_code_hash IS NOT NULL));

CREATE VIEW expected_compiler_counts AS
 SELECT replayed.chain_id,
    replayed.origin,
    replayed.trust,
    COALESCE(compiled_contracts.language, 'unknown'::character varying) AS language,
    COALESCE(compiled_contracts.version, 'unknown'::character varying) AS version,
    count(*) FILTER (WHERE (replayed.match_after = 'full'::match)) AS full_match,
    count(*) FILTER (WHERE (replayed.match_after = 'partial'::match)) AS partial_match
   FROM ((( SELECT DISTINCT ON (counted_changes.chain_id, counted_changes.address) counted_changes.chain_id,
            counted_changes.origin,
            counted_changes.trust,
            counted_changes.match_after,
            counted_changes.verified_contract_id
           FROM counted_changes
          ORDER BY counted_changes.chain_id, counted_changes.address, counted_changes.id DESC) replayed
     LEFT JOIN verified_contracts ON ((verified_contracts.id = replayed.verified_contract_id)))
     LEFT JOIN compiled_contracts ON ((compiled_contracts.id = verified_contracts.compilation_id)))
  WHERE (replayed.match_after IS NOT NULL)
  GROUP BY replayed.chain_id, replayed.origin, replayed.trust, COALESCE(compiled_contracts.language, 'unknown'::character varying), COALESCE(compiled_contracts.version, 'unknown'::character varying);

CREATE VIEW expected_daily_counts AS
 SELECT chain_id,
    day,
    sum(full_match) AS full_match,
    sum(partial_match) AS partial_match,
    sum(full_claims) AS full_claims,
    sum(partial_claims) AS partial_claims
   FROM counted_changes
  GROUP BY chain_id, day;

CREATE VIEW expected_daily_falls AS
 SELECT chain_id,
    day,
    reason,
    sum(full_match) AS full_match,
    sum(partial_match) AS partial_match,
    sum(full_claims) AS full_claims,
    sum(partial_claims) AS partial_claims
   FROM counted_changes
  WHERE (kind = 'withdrawn'::match_event_kind)
  GROUP BY chain_id, day, reason;

CREATE VIEW expected_daily_totals AS
 SELECT day,
    sum(full_match) AS full_match,
    sum(partial_match) AS partial_match,
    sum(full_claims) AS full_claims,
    sum(partial_claims) AS partial_claims
   FROM counted_changes
  GROUP BY day;

CREATE VIEW expected_hourly_totals AS
 SELECT hour,
    sum(full_match) AS full_match,
    sum(partial_match) AS partial_match,
    sum(full_claims) AS full_claims,
    sum(partial_claims) AS partial_claims
   FROM counted_changes
  WHERE (hour >= (date_trunc('hour'::text, now()) - '8 days'::interval))
  GROUP BY hour;

CREATE VIEW expected_names AS
 SELECT id AS compilation_id,
    name_endings(name) AS ending
   FROM compiled_contracts
  WHERE (id IN ( SELECT verified_contracts.compilation_id
           FROM ((feed
             JOIN match_events ON ((match_events.id = feed.event_id)))
             JOIN verified_contracts ON ((verified_contracts.id = match_events.verified_contract_id)))
          WHERE (feed."position" <= ( SELECT feed_followers."position"
                   FROM feed_followers
                  WHERE (feed_followers.name = 'names'::text)))));
