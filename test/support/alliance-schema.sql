-- The tables of the Verifier Alliance and sourcify_matches, as far as an import reads them: the columns and their types.
CREATE TABLE code (code_hash bytea PRIMARY KEY, code_hash_keccak bytea NOT NULL, code bytea);
CREATE TABLE contracts (
  id uuid PRIMARY KEY, creation_code_hash bytea REFERENCES code, runtime_code_hash bytea NOT NULL REFERENCES code
);
CREATE TABLE contract_deployments (
  id uuid PRIMARY KEY, chain_id bigint NOT NULL, address bytea NOT NULL, transaction_hash bytea, block_number numeric,
  transaction_index numeric, deployer bytea, contract_id uuid NOT NULL REFERENCES contracts
);
CREATE TABLE compiled_contracts (
  id uuid PRIMARY KEY, compiler varchar NOT NULL, version varchar NOT NULL, language varchar NOT NULL,
  name varchar NOT NULL, fully_qualified_name varchar NOT NULL, compiler_settings jsonb NOT NULL,
  compilation_artifacts jsonb NOT NULL, creation_code_hash bytea NOT NULL REFERENCES code,
  runtime_code_hash bytea NOT NULL REFERENCES code, creation_code_artifacts jsonb NOT NULL,
  runtime_code_artifacts jsonb NOT NULL, additional_input jsonb
);
CREATE TABLE sources (source_hash bytea PRIMARY KEY, source_hash_keccak bytea NOT NULL, content varchar NOT NULL);
CREATE TABLE compiled_contracts_sources (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), compilation_id uuid NOT NULL REFERENCES compiled_contracts,
  source_hash bytea NOT NULL REFERENCES sources, path varchar NOT NULL, UNIQUE (compilation_id, path)
);
CREATE TABLE verified_contracts (
  id bigserial PRIMARY KEY, deployment_id uuid NOT NULL REFERENCES contract_deployments,
  compilation_id uuid NOT NULL REFERENCES compiled_contracts, creation_match boolean NOT NULL, creation_values jsonb,
  creation_transformations jsonb, creation_metadata_match boolean, runtime_match boolean NOT NULL,
  runtime_values jsonb, runtime_transformations jsonb, runtime_metadata_match boolean
);
CREATE TABLE sourcify_matches (
  id bigserial PRIMARY KEY, verified_contract_id bigint NOT NULL UNIQUE REFERENCES verified_contracts,
  creation_match varchar, runtime_match varchar, metadata json
);
