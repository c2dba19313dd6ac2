-- Stored sources are compiled for their other contracts when a verification compiles them, or by `fullmatch reindex`: there
-- is no queue of compilations any more.

ALTER TABLE indexed_compilations ADD COLUMN are_others_indexed boolean NOT NULL DEFAULT false;
UPDATE indexed_compilations SET are_others_indexed = true WHERE next_try_at IS NULL AND reason IS NULL;

DROP INDEX indexed_compilations_due;
DROP INDEX indexed_compilations_of_project;
ALTER TABLE indexed_compilations DROP COLUMN tries, DROP COLUMN next_try_at, DROP COLUMN reason;
CREATE INDEX indexed_compilations_of_project ON indexed_compilations (project_hash) WHERE are_others_indexed;
