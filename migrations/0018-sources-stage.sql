-- The inbox has two stages with places of their own: whether the code is known, which needs no gateway, and the search for
-- sources. The second goes by turns of creators: a creation's turn is how many of its creator's waited there before it, so
-- that a mass of one creator delays no other. What was tried in vain is behind all that is new.
ALTER TABLE seen_creations ADD COLUMN sources_turn integer;
DROP INDEX seen_creations_due;
CREATE INDEX seen_creations_due ON seen_creations (chain_id, next_try_at)
  WHERE state = 'waiting' AND sources_turn IS NULL;
CREATE INDEX seen_creations_without_sources ON seen_creations (chain_id, sources_turn, next_try_at)
  WHERE state = 'waiting' AND sources_turn IS NOT NULL;
CREATE INDEX seen_creations_by_turn ON seen_creations (chain_id, creator)
  WHERE state = 'waiting' AND sources_turn IS NOT NULL;
