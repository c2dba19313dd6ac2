-- The process that follows a chain reads its older blocks too: a backfill is a second cursor, and blocks between the
-- cursor and the newest one are not handed out in ranges any more. What was read of those stays; the cursor reads on.

DELETE FROM monitor_ranges WHERE kind = 'follow';
DROP INDEX monitor_ranges_are_distinct;
DROP INDEX monitor_ranges_due;
ALTER TABLE monitor_ranges RENAME TO monitor_backfills;
ALTER TABLE monitor_backfills
  DROP COLUMN kind, DROP COLUMN parent_hash, DROP COLUMN last_hash, DROP COLUMN lease_token, DROP COLUMN lease_until;
ALTER TABLE monitor_backfills RENAME CONSTRAINT ranges_are_ordered TO backfills_are_ordered;
ALTER TABLE monitor_backfills RENAME CONSTRAINT monitor_ranges_pkey TO monitor_backfills_pkey;
ALTER TABLE monitor_backfills RENAME CONSTRAINT monitor_ranges_chain_id_check TO monitor_backfills_chain_id_check;
ALTER TABLE monitor_backfills RENAME CONSTRAINT monitor_ranges_first_block_check TO monitor_backfills_first_block_check;
ALTER SEQUENCE monitor_ranges_id_seq RENAME TO monitor_backfills_id_seq;
CREATE INDEX monitor_backfills_of_chain ON monitor_backfills (chain_id, next_try_at);
