-- The block whose state disproved a creation: a proof of that creation has to hold there too.
ALTER TABLE match_events ADD COLUMN read_at_block bigint;
