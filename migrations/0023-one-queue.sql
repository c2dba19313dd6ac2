-- Jobs are no longer put back for their length, and none gives up its place to another.

DROP INDEX verification_jobs_next_short_of_network;
ALTER TABLE verification_jobs DROP COLUMN slow;
ALTER TABLE client_usage DROP COLUMN slow_until;

-- Jobs that gave up their places when the queue was full: not checked, and to be sent again.
UPDATE verification_jobs SET error_code = 'job_timed_out' WHERE error_code = 'job_displaced';
