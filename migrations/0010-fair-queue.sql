-- The queue is shared by the time that jobs take, and what failed is kept small.

-- How long each client has held workers, in milliseconds. What was spent drains with time, so that a row means nothing
-- any more after a while and is deleted.
CREATE TABLE client_usage (
  client text PRIMARY KEY,
  spent_ms double precision NOT NULL CHECK (spent_ms >= 0),
  updated_at timestamptz NOT NULL
);

-- Since when the present worker holds the job; started_at is when the first one took it.
ALTER TABLE verification_jobs ADD COLUMN claimed_at timestamptz;
UPDATE verification_jobs SET claimed_at = started_at WHERE state = 'running';

-- A job that took longer than short jobs do while others waited: it stays off the worker that is kept for short jobs.
ALTER TABLE verification_jobs ADD COLUMN slow boolean NOT NULL DEFAULT false;

-- Each client's next job is found without reading the client's other jobs.
CREATE INDEX verification_jobs_next_of_client ON verification_jobs (client, turn, created_at) WHERE state = 'queued';
CREATE INDEX verification_jobs_next_short_of_client ON verification_jobs (client, turn, created_at)
  WHERE state = 'queued' AND NOT slow;
DROP INDEX verification_jobs_in_turn;

-- What has ended is forgotten from its oldest end on.
CREATE INDEX verification_jobs_failed ON verification_jobs (finished_at) WHERE state = 'failed';
CREATE INDEX verification_jobs_succeeded ON verification_jobs (finished_at) WHERE state = 'succeeded';

-- Codes of failed jobs are kept where they are small (64 kB are 131,072 digits). Of others the lengths stand in `data`.
UPDATE verification_jobs SET error_data = error_data - 'codes'
  WHERE state = 'failed' AND octet_length((error_data -> 'codes')::text) > 131200;
-- Facts that are not small hold lists of thousands of places.
UPDATE verification_jobs SET error_data = '{}'
  WHERE state = 'failed' AND octet_length(error_data::text) > 400000;
