-- Sync with the public chain list: the lists that were accepted, where each source stands, and the alarm.

-- The text of each accepted list, once.
CREATE TABLE chain_list_texts (
  sha256 bytea PRIMARY KEY CHECK (octet_length(sha256) = 32),
  gzip bytea NOT NULL
);

-- Which list was accepted when. The newest one of a configured source is what every process serves.
CREATE TABLE chain_list_snapshots (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sha256 bytea NOT NULL REFERENCES chain_list_texts (sha256),
  source text NOT NULL,
  chains integer NOT NULL,
  accepted_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX chain_list_snapshots_of_source ON chain_list_snapshots (source, id);
CREATE INDEX chain_list_snapshots_of_text ON chain_list_snapshots (sha256);

-- Names that an accepted list took from a chain, so that they stay searchable.
CREATE TABLE chain_former_names (
  chain_id bigint NOT NULL,
  name text NOT NULL,
  until timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, name)
);

-- What a source said of its list when it was last accepted, for conditional requests.
CREATE TABLE chain_list_sources (
  source text PRIMARY KEY,
  sha256 bytea NOT NULL,
  etag text,
  last_modified text
);

-- How the sync stands: one row for all processes. A process that asks the sources holds the lease meanwhile.
CREATE TABLE chain_list_sync (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  lease_until timestamptz,
  attempted_at timestamptz,
  -- When a source last gave the list that is served, or confirmed it.
  confirmed_at timestamptz,
  -- The alarm: set by the first failed attempt, cleared by the next good one.
  failing_since timestamptz,
  failures integer NOT NULL DEFAULT 0,
  failure_code text,
  failure_message text,
  CONSTRAINT failures_say_why
    CHECK ((failing_since IS NULL) = (failures = 0) AND (failing_since IS NULL) = (failure_code IS NULL)
      AND (failing_since IS NULL) = (failure_message IS NULL))
);
INSERT INTO chain_list_sync DEFAULT VALUES;
