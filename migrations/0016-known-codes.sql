-- Known codes: under which keys the running code of every contract of every stored compilation is found, so that clones,
-- redeployments and contracts made by contracts are verified without sources from anywhere else.

-- The types of the immutables that a compilation has, by the compiler's ids: what a value has to be. They are derived from
-- its sources, and no part of what is published. A compilation that is stored without them is compiled again to judge by.
CREATE TABLE immutable_types (
  compilation_id uuid PRIMARY KEY REFERENCES compiled_contracts (id),
  types jsonb NOT NULL
);

-- Each compiled running code once, whatever metadata hashes it holds: that is its plain hash. The masked hash leaves out
-- as well what any constructor or linker may have put there; it is the same on chain.
CREATE TABLE known_codes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  plain_hash bytea NOT NULL UNIQUE CHECK (octet_length(plain_hash) = 32),
  masked_hash bytea NOT NULL CHECK (octet_length(masked_hash) = 32),
  -- The beginning of the masked code, and the length of the whole in bytes: what is similar.
  prefix_hash bytea NOT NULL CHECK (octet_length(prefix_hash) = 32),
  length integer NOT NULL CHECK (length > 0),
  -- Marks of the masked values that the compiler wrote itself. A code on chain without one of them is another code.
  constants bigint[] NOT NULL
);
CREATE INDEX known_codes_masked ON known_codes (masked_hash, id);
CREATE INDEX known_codes_similar ON known_codes (prefix_hash, length);

-- The contracts of stored compilations that have such a code: the compiled one, and the others of its sources.
CREATE TABLE known_contracts (
  compilation_id uuid NOT NULL REFERENCES compiled_contracts (id),
  known_code_id bigint NOT NULL REFERENCES known_codes (id),
  fully_qualified_name varchar NOT NULL,
  -- SHA-256 of the metadata hashes in the code, null where it holds none. The same on chain: the match is full.
  metadata_key bytea CHECK (octet_length(metadata_key) = 32),
  -- Whether it is the contract that was compiled, whose code and artifacts are stored.
  is_compiled boolean NOT NULL
);
-- The hash of a name: names are data of any length.
CREATE UNIQUE INDEX known_contracts_are_distinct ON known_contracts (compilation_id, hash_path(fully_qualified_name));
CREATE INDEX known_contracts_of_code ON known_contracts (known_code_id, is_compiled);
CREATE INDEX known_contracts_by_metadata ON known_contracts (metadata_key) WHERE metadata_key IS NOT NULL;

-- How far the codes of each compilation are known. Rows come with the feed.
CREATE TABLE indexed_compilations (
  compilation_id uuid PRIMARY KEY REFERENCES compiled_contracts (id),
  -- Matches that were stored or rose with it.
  uses bigint NOT NULL DEFAULT 0,
  -- Whether its own code, where it is stored, is known.
  is_code_indexed boolean NOT NULL DEFAULT false,
  -- SHA-256 of sources, settings and compiler: compilations that share them have the same other contracts.
  project_hash bytea CHECK (octet_length(project_hash) = 32),
  -- Other contracts of its sources: when they are next tried, null where nothing is left to do; how often it was, and
  -- why it came to nothing.
  tries integer NOT NULL DEFAULT 0,
  next_try_at timestamptz DEFAULT now(),
  reason text
);
CREATE INDEX indexed_compilations_without_code ON indexed_compilations (compilation_id) WHERE NOT is_code_indexed;
CREATE INDEX indexed_compilations_due ON indexed_compilations (next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX indexed_compilations_of_project ON indexed_compilations (project_hash)
  WHERE next_try_at IS NULL AND reason IS NULL;

-- From the first event on: it takes a while in a large database, and nothing waits for it.
INSERT INTO feed_followers (name, position) VALUES ('known_codes', 0);
