-- Verification jobs: what a client asked to verify, and what came of it.
--
-- Several processes share this queue. A worker claims a job with a lease, which it renews while it works; a job whose
-- lease ran out is taken from it. `turn` is the place in fair turns: the jobs of one client on one chain have rising
-- turns, so that a client with a hundred jobs does not delay another's first.

CREATE TYPE verification_job_state AS ENUM ('queued', 'running', 'succeeded', 'failed');

CREATE TABLE verification_jobs (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  state verification_job_state NOT NULL DEFAULT 'queued',
  chain_id bigint NOT NULL CHECK (chain_id BETWEEN 1 AND 9007199254740991),
  address bytea NOT NULL CHECK (octet_length(address) = 20),
  -- The request as deflated JSON and its hash. The request is dropped when the job ends: what matched is in the
  -- repository, and what did not match is its sender's.
  request bytea,
  input_hash bytea NOT NULL CHECK (octet_length(input_hash) = 32),
  -- For whom the job takes its turn; forgotten when the job ends.
  client text,
  turn bigint NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  cancel_requested boolean NOT NULL DEFAULT false,
  lease_token uuid,
  lease_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  compile_time_ms integer,
  -- The matches that this job found, and the event of the match that it stored; none when a better one was there.
  runtime_match match,
  creation_match match,
  event_id bigint REFERENCES match_events (id),
  error_code text,
  error_message text,
  error_id uuid,
  error_data jsonb,
  CONSTRAINT unfinished_jobs_have_a_request
    CHECK ((state IN ('queued', 'running')) = (request IS NOT NULL)),
  CONSTRAINT running_jobs_have_a_lease
    CHECK ((state = 'running') = (lease_token IS NOT NULL) AND (state = 'running') = (lease_until IS NOT NULL)),
  CONSTRAINT finished_jobs_have_a_time CHECK ((state IN ('succeeded', 'failed')) = (finished_at IS NOT NULL)),
  CONSTRAINT failed_jobs_say_why
    CHECK ((state = 'failed') = (error_code IS NOT NULL) AND (state = 'failed') = (error_id IS NOT NULL)),
  CONSTRAINT succeeded_jobs_have_a_match
    CHECK ((state = 'succeeded') = (greatest(runtime_match, creation_match) IS NOT NULL))
);

-- One job in flight for a chain, an address and an input.
CREATE UNIQUE INDEX verification_jobs_in_flight ON verification_jobs (chain_id, address, input_hash)
  WHERE state IN ('queued', 'running');
CREATE INDEX verification_jobs_in_turn ON verification_jobs (turn, created_at) WHERE state = 'queued';
CREATE INDEX verification_jobs_of_client ON verification_jobs (client, chain_id, turn)
  WHERE state IN ('queued', 'running');
CREATE INDEX verification_jobs_with_lease ON verification_jobs (lease_until) WHERE state = 'running';
CREATE INDEX verification_jobs_of_address ON verification_jobs (chain_id, address, created_at);

-- At which block and by which endpoints the code on chain was read: {blockNumber, blockHash, endpoints}.
-- Beside the Verifier Alliance's columns; unknown for what was imported.
ALTER TABLE verified_contracts ADD COLUMN code_reading jsonb;
