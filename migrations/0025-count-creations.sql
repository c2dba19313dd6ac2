-- Seen creations are counted where they are: no copy of the counts is kept by triggers.

DROP TRIGGER creations_are_counted ON seen_creations;
DROP TRIGGER changed_creations_are_counted ON seen_creations;
DROP TRIGGER removed_creations_are_counted ON seen_creations;
DROP FUNCTION note_seen_creations();
DROP FUNCTION note_changed_creations();
DROP FUNCTION note_removed_creations();
DROP TABLE creation_count_changes;
DROP TABLE creation_counts;

-- The index alone gives the counts.
CREATE INDEX seen_creations_by_state ON seen_creations (chain_id, state, reason);
