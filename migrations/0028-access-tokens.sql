-- Tokens made by `fullmatch tokens create`, by their hash only: reading the database gives nobody access.

CREATE TABLE access_tokens (
  name text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  -- SHA-256 of the token.
  digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
  -- Verification requests an hour to each process; null: as access.verificationsPerHour.
  per_hour integer CHECK (per_hour > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz
);
