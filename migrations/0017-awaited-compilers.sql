-- A job whose compiler is being downloaded lies in the queue without a worker. It says which compiler it waits for and how
-- much of it is there, and until when the process that downloads speaks for it: after that any worker takes it.
ALTER TABLE verification_jobs
  ADD COLUMN awaited_compiler text,
  ADD COLUMN awaited_until timestamptz,
  ADD COLUMN awaited_bytes bigint,
  ADD COLUMN awaited_total_bytes bigint,
  ADD COLUMN compiler_waits integer NOT NULL DEFAULT 0,
  ADD CONSTRAINT awaited_compilers_have_a_time CHECK ((awaited_compiler IS NULL) = (awaited_until IS NULL));
CREATE INDEX verification_jobs_awaiting ON verification_jobs (awaited_compiler) WHERE awaited_compiler IS NOT NULL;
