import { type FieldTable } from '../tables/field-table.ts';

/** Nullable columns; all others are NOT NULL. */
const NULLABLE: Readonly<Record<string, readonly string[]>> = {
  code: ['code'],
  contracts: ['creation_code_hash'],
  // Transaction, block and deployer may be unknown, as in Sourcify's database.
  contract_deployments: ['transaction_hash', 'block_number', 'transaction_index', 'deployer'],
  compiled_contracts: ['additional_input'],
  verified_contracts: [
    ...['creation_values', 'creation_transformations', 'creation_metadata_match'],
    ...['runtime_values', 'runtime_transformations', 'runtime_metadata_match'],
  ],
  sourcify_matches: ['creation_match', 'runtime_match', 'metadata'],
  fullmatch_matches: [
    ...['match', 'runtime_match', 'creation_match', 'origin', 'trust', 'source'],
    ...['verified_contract_id', 'reason', 'claimed_creation_values', 'code_reading'],
  ],
};
const DEFAULTS: Readonly<Record<string, string>> = {
  created_at: 'now()',
  updated_at: 'now()',
  created_by: 'CURRENT_USER',
  updated_by: 'CURRENT_USER',
};

/** CREATE TABLE without constraints; they are added after the rows are loaded. */
export function createTable({ name, columns }: FieldTable): string {
  const lines = columns.map((column) => {
    const isNullable = NULLABLE[name]?.includes(column.name) === true;
    const byDefault =
      column.name === 'id' && column.sqlType === 'uuid'
        ? 'gen_random_uuid()'
        : DEFAULTS[column.name];
    return [
      `  ${column.name} ${column.sqlType}`,
      ...(isNullable ? [] : ['NOT NULL']),
      ...(byDefault === undefined ? [] : [`DEFAULT ${byDefault}`]),
    ].join(' ');
  });
  return `CREATE TABLE ${name} (\n${lines.join(',\n')}\n);\n`;
}

/** Constraints of the Verifier Alliance tables. Functions check every element of a list. */
export const CONSTRAINTS = `
CREATE FUNCTION has_only_keys(value jsonb, needed text[], optional text[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_typeof(value) = 'object' AND value ?& needed AND value - needed - optional = '{}'
$$;
CREATE FUNCTION is_hex_bytes(value jsonb, length integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_typeof(value) = 'string' AND value #>> '{}' ~ '^0x([0-9a-fA-F]{2})*$'
    AND (length IS NULL OR length(value #>> '{}') = 2 + 2 * length), false)
$$;
CREATE FUNCTION are_hex_bytes(value jsonb, length integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT value IS NULL OR jsonb_typeof(value) = 'object'
    AND NOT EXISTS (SELECT FROM jsonb_each(value) AS member WHERE NOT is_hex_bytes(member.value, length))
$$;
CREATE FUNCTION is_whole_number(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_typeof(value) = 'number' AND (value #>> '{}')::numeric >= 0
    AND (value #>> '{}')::numeric = trunc((value #>> '{}')::numeric), false)
$$;
CREATE FUNCTION is_null_or(value jsonb, type text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT value IS NULL OR jsonb_typeof(value) IN ('null', type)
$$;
CREATE FUNCTION validate_compilation_artifacts(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT has_only_keys(value, ARRAY['abi', 'sources'], ARRAY['userdoc', 'devdoc', 'storageLayout', 'transientStorageLayout'])
    AND is_null_or(value -> 'abi', 'array') AND is_null_or(value -> 'sources', 'object')
    AND (jsonb_typeof(value -> 'sources') <> 'object' OR NOT EXISTS (
      SELECT FROM jsonb_each(value -> 'sources') AS source
      WHERE NOT coalesce(has_only_keys(source.value, ARRAY['id'], '{}') AND is_whole_number(source.value -> 'id'), false)
    ) AND (SELECT count(*) = count(DISTINCT source.value ->> 'id') FROM jsonb_each(value -> 'sources') AS source))
$$;
CREATE FUNCTION validate_code_artifacts(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT is_null_or(value -> 'sourceMap', 'string') AND is_null_or(value -> 'linkReferences', 'object')
    AND is_null_or(value -> 'cborAuxdata', 'object')
    AND (jsonb_typeof(value -> 'cborAuxdata') IS DISTINCT FROM 'object' OR NOT EXISTS (
      SELECT FROM jsonb_each(value -> 'cborAuxdata') AS auxdata
      WHERE NOT (is_hex_bytes(auxdata.value -> 'value', NULL) AND is_whole_number(auxdata.value -> 'offset'))
    ))
$$;
CREATE FUNCTION validate_creation_code_artifacts(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT has_only_keys(value, ARRAY['sourceMap', 'linkReferences'], ARRAY['cborAuxdata']) AND validate_code_artifacts(value)
$$;
CREATE FUNCTION validate_runtime_code_artifacts(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT has_only_keys(value, ARRAY['sourceMap', 'linkReferences', 'immutableReferences'], ARRAY['cborAuxdata'])
    AND validate_code_artifacts(value) AND is_null_or(value -> 'immutableReferences', 'object')
$$;
CREATE FUNCTION validate_transformation(element jsonb, is_runtime boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_typeof(element) = 'object' AND is_whole_number(element -> 'offset')
    AND CASE element ->> 'reason'
      WHEN 'constructorArguments' THEN NOT is_runtime AND element ->> 'type' = 'insert'
      WHEN 'library' THEN element ->> 'type' = 'replace' AND element ? 'id'
      WHEN 'immutable' THEN is_runtime AND element ->> 'type' IN ('replace', 'insert') AND element ? 'id'
      WHEN 'callProtection' THEN is_runtime AND element ->> 'type' = 'replace' AND (element ->> 'offset')::numeric = 1
      WHEN 'cborAuxdata' THEN element ->> 'type' = 'replace' AND element ? 'id'
        AND (element -> 'length' IS NULL OR is_whole_number(element -> 'length'))
        OR element ->> 'type' = 'delete' AND is_whole_number(element -> 'length')
      ELSE false END, false)
$$;
CREATE FUNCTION validate_transformations(value jsonb, is_runtime boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_typeof(value) = 'array'
    AND NOT EXISTS (SELECT FROM jsonb_array_elements(value) AS list (element) WHERE NOT validate_transformation(element, is_runtime))
$$;
CREATE FUNCTION validate_creation_transformations(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT validate_transformations(value, false)
$$;
CREATE FUNCTION validate_runtime_transformations(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT validate_transformations(value, true)
$$;
CREATE FUNCTION validate_creation_values(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT has_only_keys(value, '{}', ARRAY['constructorArguments', 'libraries', 'cborAuxdata'])
    AND (value -> 'constructorArguments' IS NULL OR is_hex_bytes(value -> 'constructorArguments', NULL))
    AND are_hex_bytes(value -> 'libraries', 20) AND are_hex_bytes(value -> 'cborAuxdata', NULL)
$$;
CREATE FUNCTION validate_runtime_values(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT has_only_keys(value, '{}', ARRAY['libraries', 'immutables', 'cborAuxdata', 'callProtection'])
    AND are_hex_bytes(value -> 'libraries', 20) AND are_hex_bytes(value -> 'immutables', NULL)
    AND are_hex_bytes(value -> 'cborAuxdata', NULL)
    AND (value -> 'callProtection' IS NULL OR is_hex_bytes(value -> 'callProtection', 20))
$$;
CREATE FUNCTION validate_additional_input(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT has_only_keys(value, '{}', ARRAY['storage_layout_overrides'])
$$;

ALTER TABLE code ADD PRIMARY KEY (code_hash), ADD CONSTRAINT code_hash_check
  CHECK (code IS NOT NULL AND code_hash = sha256(code) OR code IS NULL AND code_hash = '\\x'::bytea);
ALTER TABLE sources ADD PRIMARY KEY (source_hash), ADD CONSTRAINT source_hash_check
  CHECK (source_hash = sha256(convert_to(content, 'UTF8')));
ALTER TABLE contracts ADD PRIMARY KEY (id),
  ADD FOREIGN KEY (creation_code_hash) REFERENCES code, ADD FOREIGN KEY (runtime_code_hash) REFERENCES code;
ALTER TABLE contract_deployments ADD PRIMARY KEY (id), ADD FOREIGN KEY (contract_id) REFERENCES contracts;
ALTER TABLE compiled_contracts ADD PRIMARY KEY (id),
  ADD FOREIGN KEY (creation_code_hash) REFERENCES code, ADD FOREIGN KEY (runtime_code_hash) REFERENCES code,
  ADD CONSTRAINT compilation_artifacts_json_schema CHECK (validate_compilation_artifacts(compilation_artifacts)),
  ADD CONSTRAINT creation_code_artifacts_json_schema CHECK (validate_creation_code_artifacts(creation_code_artifacts)),
  ADD CONSTRAINT runtime_code_artifacts_json_schema CHECK (validate_runtime_code_artifacts(runtime_code_artifacts)),
  ADD CONSTRAINT additional_input_json_schema CHECK (additional_input IS NULL OR validate_additional_input(additional_input));
ALTER TABLE compiled_contracts_sources ADD PRIMARY KEY (id),
  ADD FOREIGN KEY (compilation_id) REFERENCES compiled_contracts, ADD FOREIGN KEY (source_hash) REFERENCES sources;
CREATE FUNCTION hash_path(path varchar) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT sha256(convert_to(path, 'UTF8'))
$$;
CREATE UNIQUE INDEX compiled_contracts_sources_are_distinct ON compiled_contracts_sources (compilation_id, hash_path(path));
ALTER TABLE verified_contracts ADD PRIMARY KEY (id), ADD UNIQUE (compilation_id, deployment_id),
  ADD FOREIGN KEY (deployment_id) REFERENCES contract_deployments, ADD FOREIGN KEY (compilation_id) REFERENCES compiled_contracts,
  ADD CONSTRAINT match_exists CHECK (creation_match OR runtime_match),
  ADD CONSTRAINT creation_match_integrity CHECK (num_nonnulls(creation_values, creation_transformations, creation_metadata_match)
    = CASE WHEN creation_match THEN 3 ELSE 0 END),
  ADD CONSTRAINT runtime_match_integrity CHECK (num_nonnulls(runtime_values, runtime_transformations, runtime_metadata_match)
    = CASE WHEN runtime_match THEN 3 ELSE 0 END),
  ADD CONSTRAINT creation_values_json_schema CHECK (creation_values IS NULL OR validate_creation_values(creation_values)),
  ADD CONSTRAINT runtime_values_json_schema CHECK (runtime_values IS NULL OR validate_runtime_values(runtime_values)),
  ADD CONSTRAINT creation_transformations_json_schema
    CHECK (creation_transformations IS NULL OR validate_creation_transformations(creation_transformations)),
  ADD CONSTRAINT runtime_transformations_json_schema
    CHECK (runtime_transformations IS NULL OR validate_runtime_transformations(runtime_transformations));
CREATE SEQUENCE verified_contracts_id_seq OWNED BY verified_contracts.id;
ALTER TABLE verified_contracts ALTER COLUMN id SET DEFAULT nextval('verified_contracts_id_seq');
SELECT setval('verified_contracts_id_seq', coalesce(max(id), 0) + 1, false) FROM verified_contracts;

CREATE INDEX contracts_runtime_code_hash ON contracts (runtime_code_hash);
CREATE INDEX code_code_hash_keccak ON code (code_hash_keccak);
CREATE INDEX contract_deployments_address ON contract_deployments (address);
CREATE INDEX contract_deployments_chain_id ON contract_deployments (chain_id);
CREATE INDEX contract_deployments_contract_id ON contract_deployments (contract_id);
CREATE INDEX compiled_contracts_creation_code_hash ON compiled_contracts (creation_code_hash);
CREATE INDEX compiled_contracts_runtime_code_hash ON compiled_contracts (runtime_code_hash);
CREATE INDEX compiled_contracts_sources_source_hash ON compiled_contracts_sources (source_hash);
CREATE INDEX verified_contracts_deployment_id ON verified_contracts (deployment_id);

-- Two rows of Fullmatch may be one there, such as two compilations whose codes are not known: then the index is a plain one.
DO $$
DECLARE
  wanted record;
BEGIN
  FOR wanted IN VALUES
    ('contracts', 'creation_code_hash, runtime_code_hash'),
    ('contract_deployments', 'chain_id, address, transaction_hash, contract_id'),
    ('compiled_contracts', 'compiler, version, language, creation_code_hash, runtime_code_hash')
  LOOP
    BEGIN
      EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I UNIQUE (%s)', wanted.column1, wanted.column1 || '_pseudo_pkey', wanted.column2);
    EXCEPTION WHEN unique_violation THEN
      EXECUTE format('CREATE INDEX %I ON %I (%s)', wanted.column1 || '_pseudo_pkey', wanted.column1, wanted.column2);
      RAISE NOTICE 'rows of % are not unique in (%)', wanted.column1, wanted.column2;
    END;
  END LOOP;
END $$;
`;

/** Sourcify's table of matches, in addition to the Verifier Alliance tables. */
export const SOURCIFY_CONSTRAINTS = `
ALTER TABLE sourcify_matches ADD PRIMARY KEY (id), ADD UNIQUE (verified_contract_id),
  ADD FOREIGN KEY (verified_contract_id) REFERENCES verified_contracts ON UPDATE RESTRICT ON DELETE RESTRICT;
CREATE SEQUENCE sourcify_matches_id_seq OWNED BY sourcify_matches.id;
ALTER TABLE sourcify_matches ALTER COLUMN id SET DEFAULT nextval('sourcify_matches_id_seq');
SELECT setval('sourcify_matches_id_seq', coalesce(max(id), 0) + 1, false) FROM sourcify_matches;
`;

/** Data that the field's tables have no column for. */
export const OWN_CONSTRAINTS = `
ALTER TABLE fullmatch_matches ADD PRIMARY KEY (chain_id, address),
  ADD FOREIGN KEY (verified_contract_id) REFERENCES verified_contracts;
CREATE INDEX fullmatch_matches_verified_contract_id ON fullmatch_matches (verified_contract_id);
`;

/** From now on the database sets the author and time of a row; exported rows keep theirs. */
export const TRIGGERS = `
CREATE FUNCTION note_creation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.created_at := now();
  NEW.created_by := CURRENT_USER;
  NEW.updated_at := NEW.created_at;
  NEW.updated_by := NEW.created_by;
  RETURN NEW;
END $$;
CREATE FUNCTION note_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.created_at := OLD.created_at;
  NEW.created_by := OLD.created_by;
  NEW.updated_at := now();
  NEW.updated_by := CURRENT_USER;
  RETURN NEW;
END $$;
DO $$
DECLARE
  audited text;
BEGIN
  FOREACH audited IN ARRAY ARRAY['code', 'sources', 'contracts', 'contract_deployments', 'compiled_contracts', 'verified_contracts'] LOOP
    EXECUTE format('CREATE TRIGGER creations_are_noted BEFORE INSERT ON %I FOR EACH ROW EXECUTE FUNCTION note_creation()', audited);
    EXECUTE format('CREATE TRIGGER updates_are_noted BEFORE UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION note_update()', audited);
  END LOOP;
END $$;
`;
