-- What other explorers are told of a job's match. A row is made with the end of the job, and goes with it.
CREATE TABLE external_verifications (
  job_id uuid NOT NULL REFERENCES verification_jobs ON DELETE CASCADE,
  explorer text NOT NULL CHECK (explorer IN ('etherscan', 'blockscout', 'routescan')),
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'submitted', 'verified', 'failed')),
  external_id text,
  error text,
  links jsonb NOT NULL DEFAULT '{}',
  attempts integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job_id, explorer)
);
CREATE INDEX external_verifications_due ON external_verifications (next_at) WHERE state IN ('waiting', 'submitted');
