-- Settings that the service changed for a match, as an object with the members of the compiler input.
ALTER TABLE verification_jobs ADD COLUMN changed_settings jsonb;

-- Failed jobs that could not check the contract keep their request for a while, so that it can be retried.
ALTER TABLE verification_jobs
  DROP CONSTRAINT unfinished_jobs_have_a_request,
  ADD CONSTRAINT unfinished_jobs_have_a_request
    CHECK (state IN ('succeeded', 'failed') OR request IS NOT NULL);
