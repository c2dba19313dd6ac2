-- The changes of all chains together, so that a history of all of them reads a few rows a day, however many chains
-- there are.
--
-- With one row a day, writers of different chains would wait for each other. So a day has several, and their sum
-- counts: each transaction adds to the slot that it holds the advisory lock of, the first that is free, and to slot 0
-- where none is. A day has as many rows as there were writers at once.
CREATE TABLE daily_totals (
  day date NOT NULL,
  slot smallint NOT NULL,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL,
  PRIMARY KEY (day, slot)
);
INSERT INTO daily_totals
SELECT day, 0, sum(full_match), sum(partial_match) FROM daily_counts GROUP BY day;
CREATE VIEW expected_daily_totals AS
SELECT 0::smallint AS slot, day, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM event_changes GROUP BY day;
-- Chains are read by themselves now. Without this index, an addition to a day's row touches no index at all.
DROP INDEX daily_counts_by_day;

-- Nobody asks for the hours of one chain.
CREATE TABLE hourly_totals (
  hour timestamptz NOT NULL,
  slot smallint NOT NULL,
  full_match bigint NOT NULL,
  partial_match bigint NOT NULL,
  PRIMARY KEY (hour, slot)
);
INSERT INTO hourly_totals
SELECT hour, 0, sum(full_match), sum(partial_match) FROM hourly_counts GROUP BY hour;
CREATE VIEW expected_hourly_totals AS
SELECT 0::smallint AS slot, hour, sum(full_match) AS full_match, sum(partial_match) AS partial_match
FROM event_changes WHERE hour >= date_trunc('hour', now()) - interval '8 days' GROUP BY hour;
DROP VIEW expected_hourly_counts;
DROP TABLE hourly_counts;
