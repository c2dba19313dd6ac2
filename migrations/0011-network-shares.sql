-- The queue is shared between networks of clients first, then between the clients of each.

-- The network of the job's client: an IPv4 /24, an IPv6 /48; of any other client its own name.
ALTER TABLE verification_jobs ADD COLUMN network text;
UPDATE verification_jobs SET network = CASE
    WHEN client ~ '^[0-9]{1,3}(\.[0-9]{1,3}){3}$' THEN network(set_masklen(client::inet, 24))::text
    WHEN client ~ '^[0-9a-f:]+/64$' THEN network(set_masklen(client::inet, 48))::text
    ELSE coalesce(client, 'unknown')
  END
  WHERE state IN ('queued', 'running');
UPDATE verification_jobs SET client = 'unknown' WHERE state IN ('queued', 'running') AND client IS NULL;
-- For processes of the version before that still run beside this one.
ALTER TABLE verification_jobs ALTER COLUMN network SET DEFAULT 'unknown';

-- A row of client_usage is a client's or a network's: no network has the name of a client of another.
-- Until when jobs of a client or network come behind those of others, because one was put back or ran into a limit.
ALTER TABLE client_usage ADD COLUMN slow_until timestamptz;

DROP INDEX verification_jobs_next_of_client;
DROP INDEX verification_jobs_next_short_of_client;
CREATE INDEX verification_jobs_next_of_network ON verification_jobs (network, client, turn, created_at)
  WHERE state = 'queued';
CREATE INDEX verification_jobs_next_short_of_network ON verification_jobs (network, client, turn, created_at)
  WHERE state = 'queued' AND NOT slow;
