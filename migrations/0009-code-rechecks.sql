-- How far the service has read the codes of a chain's matches again: the last address that was taken, and when the next
-- is due. Taking one is one statement that moves both, so all processes of a database share one budget.
CREATE TABLE code_rechecks (
  chain_id bigint PRIMARY KEY,
  after_address bytea NOT NULL DEFAULT '',
  next_at timestamptz NOT NULL DEFAULT now()
);
