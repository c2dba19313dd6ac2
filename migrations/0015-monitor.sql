-- The monitor: how far each watched chain was read, what is read in parts, and every creation that was seen.

-- One row for each chain that was ever monitored.
CREATE TABLE monitor_cursors (
  chain_id bigint PRIMARY KEY CHECK (chain_id BETWEEN 1 AND 9007199254740991),
  -- The first block that is followed.
  start_block bigint NOT NULL CHECK (start_block >= 0),
  -- The newest block up to which every creation is stored, and its hash: start_block - 1 and null at first.
  number bigint NOT NULL CHECK (number >= start_block - 1),
  hash bytea CHECK (octet_length(hash) = 32),
  -- The newest block that cannot be replaced any more, and the newest block of all, when they were last read.
  finalized bigint,
  head bigint,
  -- When the cursor last moved, or was last seen to stand where it should.
  current_at timestamptz NOT NULL DEFAULT now(),
  -- Why it does not go on, and since when; null while it does.
  fault_code text,
  fault_message text,
  failing_since timestamptz,
  -- Creations ever stored, and how often the chain replaced blocks that were followed.
  found bigint NOT NULL DEFAULT 0,
  reorganisations bigint NOT NULL DEFAULT 0,
  -- The newest reorganisation: the block that stayed, and when it was seen.
  reorganised_to bigint,
  reorganised_at timestamptz,
  -- The process that follows the chain now.
  lease_token uuid,
  lease_until timestamptz,
  CONSTRAINT cursor_faults_say_why CHECK (
    (fault_code IS NULL) = (failing_since IS NULL) AND (fault_code IS NULL) = (fault_message IS NULL)),
  CONSTRAINT cursor_leases_have_an_end CHECK ((lease_token IS NULL) = (lease_until IS NULL))
);

-- Hashes of the followed blocks that the chain may still replace.
CREATE TABLE monitor_blocks (
  chain_id bigint NOT NULL REFERENCES monitor_cursors ON DELETE CASCADE,
  number bigint NOT NULL,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (chain_id, number)
);

-- Ranges of blocks that processes read for a lease: those between the cursor and the chain's final block (`follow`), and
-- those that are read once more (`backfill`), of which a process cuts off as much as it reads at once. Done ranges of
-- `follow` stay until the cursor has passed them; done ranges of `backfill` are deleted.
CREATE TABLE monitor_ranges (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chain_id bigint NOT NULL CHECK (chain_id BETWEEN 1 AND 9007199254740991),
  kind text NOT NULL CHECK (kind IN ('follow', 'backfill')),
  first_block bigint NOT NULL CHECK (first_block >= 0),
  last_block bigint NOT NULL,
  -- The parent of the first block and the last block, once it is done: neighbours have to fit.
  parent_hash bytea CHECK (octet_length(parent_hash) = 32),
  last_hash bytea CHECK (octet_length(last_hash) = 32),
  attempts integer NOT NULL DEFAULT 0,
  next_try_at timestamptz NOT NULL DEFAULT now(),
  fault_code text,
  fault_message text,
  lease_token uuid,
  lease_until timestamptz,
  requested_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT ranges_are_ordered CHECK (last_block >= first_block),
  CONSTRAINT range_leases_have_an_end CHECK ((lease_token IS NULL) = (lease_until IS NULL))
);
CREATE UNIQUE INDEX monitor_ranges_are_distinct ON monitor_ranges (chain_id, kind, first_block);
CREATE INDEX monitor_ranges_due ON monitor_ranges (next_try_at) WHERE last_hash IS NULL;

-- Blocks whose contracts made by contracts were not seen, since no endpoint could trace them.
CREATE TABLE monitor_untraced_blocks (
  chain_id bigint NOT NULL,
  first_block bigint NOT NULL,
  last_block bigint NOT NULL,
  PRIMARY KEY (chain_id, first_block),
  CONSTRAINT untraced_blocks_are_ordered CHECK (last_block >= first_block)
);

CREATE TYPE creation_state AS ENUM ('waiting', 'verifying', 'verified', 'given_up', 'gone');

-- The inbox: every creation that was seen. `waiting`: sources are still looked for; `verifying`: a job has them;
-- `verified`: the contract has a match; `given_up`: nothing more will be tried; `gone`: no code is left at the address.
CREATE TABLE seen_creations (
  chain_id bigint NOT NULL CHECK (chain_id BETWEEN 1 AND 9007199254740991),
  address bytea NOT NULL CHECK (octet_length(address) = 20),
  block_number bigint NOT NULL,
  block_hash bytea NOT NULL CHECK (octet_length(block_hash) = 32),
  transaction_hash bytea NOT NULL CHECK (octet_length(transaction_hash) = 32),
  transaction_index integer NOT NULL,
  -- The sender of the transaction, and the contract that executed the creation; null where the transaction itself did.
  creator bytea NOT NULL CHECK (octet_length(creator) = 20),
  factory bytea CHECK (octet_length(factory) = 20),
  -- SHA-256 of the code that the creation left, where a trace showed it.
  code_hash bytea CHECK (octet_length(code_hash) = 32),
  -- SHA-256 of the masked code, once it was read: a code that becomes known brings its creations back.
  masked_hash bytea CHECK (octet_length(masked_hash) = 32),
  state creation_state NOT NULL DEFAULT 'waiting',
  tries integer NOT NULL DEFAULT 0,
  next_try_at timestamptz DEFAULT now(),
  -- How it was verified (known_code, sources, already_verified) or why it is not: a code of the field, and the words for people.
  reason text,
  detail text,
  job_id uuid,
  lease_token uuid,
  lease_until timestamptz,
  found_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  PRIMARY KEY (chain_id, address, block_number),
  CONSTRAINT creation_leases_have_an_end CHECK ((lease_token IS NULL) = (lease_until IS NULL)),
  CONSTRAINT ended_creations_have_a_time CHECK ((state IN ('verified', 'given_up', 'gone')) = (ended_at IS NOT NULL)),
  CONSTRAINT only_open_creations_are_tried CHECK ((state IN ('waiting', 'verifying')) = (next_try_at IS NOT NULL))
);
CREATE INDEX seen_creations_due ON seen_creations (chain_id, next_try_at) WHERE state = 'waiting';
-- As many as the monitor's share of the queue.
CREATE INDEX seen_creations_verifying ON seen_creations (job_id) WHERE state = 'verifying';
CREATE INDEX seen_creations_by_mask ON seen_creations (masked_hash)
  WHERE state IN ('waiting', 'given_up') AND masked_hash IS NOT NULL;
CREATE INDEX seen_creations_by_block ON seen_creations (chain_id, block_number);
CREATE INDEX seen_creations_ended ON seen_creations (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX seen_creations_found ON seen_creations (found_at);

-- Rows of the inbox that are too old are deleted; how many they were stays.
CREATE TABLE forgotten_creations (
  chain_id bigint NOT NULL,
  state creation_state NOT NULL,
  reason text NOT NULL DEFAULT '',
  creations bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (chain_id, state, reason)
);

-- How many rows of the inbox are in which state, and why: kept beside the rows, so that nobody counts millions of them. Who
-- writes rows only adds changes here, so that writers do not wait for each other; the changes are added up from time to time.
CREATE TABLE creation_counts (
  chain_id bigint NOT NULL,
  state creation_state NOT NULL,
  reason text NOT NULL DEFAULT '',
  creations bigint NOT NULL,
  PRIMARY KEY (chain_id, state, reason)
);
CREATE TABLE creation_count_changes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chain_id bigint NOT NULL,
  state creation_state NOT NULL,
  reason text NOT NULL,
  change bigint NOT NULL
);

CREATE FUNCTION note_seen_creations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO creation_count_changes (chain_id, state, reason, change)
  SELECT chain_id, state, coalesce(reason, ''), count(*) FROM added GROUP BY 1, 2, 3;
  RETURN NULL;
END $$;
CREATE FUNCTION note_changed_creations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO creation_count_changes (chain_id, state, reason, change)
  SELECT chain_id, state, reason, sum(change) FROM (
    SELECT chain_id, state, coalesce(reason, '') AS reason, 1 AS change FROM added
    UNION ALL SELECT chain_id, state, coalesce(reason, ''), -1 FROM removed
  ) AS changes GROUP BY 1, 2, 3 HAVING sum(change) <> 0;
  RETURN NULL;
END $$;
CREATE FUNCTION note_removed_creations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO creation_count_changes (chain_id, state, reason, change)
  SELECT chain_id, state, coalesce(reason, ''), -count(*) FROM removed GROUP BY 1, 2, 3;
  RETURN NULL;
END $$;
CREATE TRIGGER creations_are_counted AFTER INSERT ON seen_creations
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_seen_creations();
CREATE TRIGGER changed_creations_are_counted AFTER UPDATE ON seen_creations
  REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_changed_creations();
CREATE TRIGGER removed_creations_are_counted AFTER DELETE ON seen_creations
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION note_removed_creations();
