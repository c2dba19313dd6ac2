-- How far the feed of another Fullmatch has been imported, by the URL it was read from.

CREATE TABLE import_cursors (
  url text PRIMARY KEY CHECK (octet_length(url) <= 2048),
  -- The `next` of the last page of GET /v1/feed.
  cursor text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);
