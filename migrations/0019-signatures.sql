-- The signature database: the signatures of functions, events and errors of verified contracts, and those that somebody
-- imported, found by their hashes and by their beginnings.

CREATE TABLE signatures (
  -- Keccak-256 of the text; its first four bytes are the selector of a function or an error.
  signature_hash bytea NOT NULL CHECK (octet_length(signature_hash) = 32),
  kind text NOT NULL CHECK (kind IN ('function', 'event', 'error')),
  -- As long as a row of an index may be.
  signature text COLLATE "C" NOT NULL CHECK (octet_length(signature) BETWEEN 1 AND 2000),
  -- Stored compilations with a match that have it. With none it is what somebody imported, or what was withdrawn.
  compilations bigint NOT NULL DEFAULT 0 CHECK (compilations >= 0),
  PRIMARY KEY (signature_hash, kind)
);
CREATE INDEX signatures_by_text ON signatures (signature, kind);

-- How a verified contract declares an event: one row for each choice of indexed parameters, with the names that came first.
CREATE TABLE event_inputs (
  signature_hash bytea NOT NULL CHECK (octet_length(signature_hash) = 32),
  -- 1 or 0 for each parameter.
  indexed text COLLATE "C" NOT NULL CHECK (octet_length(indexed) <= 2000),
  inputs jsonb NOT NULL,
  PRIMARY KEY (signature_hash, indexed)
);

-- How many there are, kept by every statement that changes them: counting millions takes seconds.
CREATE TABLE signature_totals (
  kind text PRIMARY KEY,
  -- Of verified contracts, and others.
  verified bigint NOT NULL DEFAULT 0,
  unverified bigint NOT NULL DEFAULT 0
);
INSERT INTO signature_totals (kind) VALUES ('function'), ('event'), ('error');
CREATE FUNCTION count_added_signatures() RETURNS trigger LANGUAGE plpgsql AS $$
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
$$;
CREATE FUNCTION count_changed_signatures() RETURNS trigger LANGUAGE plpgsql AS $$
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
$$;
CREATE TRIGGER added_signatures_are_counted
  AFTER INSERT ON signatures REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_added_signatures();
CREATE TRIGGER changed_signatures_are_counted
  AFTER UPDATE ON signatures REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION count_changed_signatures();

-- Which compilations are counted. Rows come with the feed: a match that was stored, rose, or was withdrawn.
CREATE TABLE signed_compilations (
  compilation_id uuid PRIMARY KEY REFERENCES compiled_contracts (id),
  -- Whether its signatures count it.
  is_counted boolean NOT NULL DEFAULT false,
  -- Whether a match came or went since.
  is_due boolean NOT NULL DEFAULT true
);
CREATE INDEX signed_compilations_due ON signed_compilations (compilation_id) WHERE is_due;

-- From the first event on, so that matches stored before come in by the same way.
INSERT INTO feed_followers (name, position) VALUES ('signatures', 0);
