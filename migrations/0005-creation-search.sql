-- How the creation transaction was looked for, method by method: [{method, outcome, detail, durationMs}].
-- Beside the Verifier Alliance's columns; unknown for what was imported.
ALTER TABLE verified_contracts ADD COLUMN creation_search jsonb;
