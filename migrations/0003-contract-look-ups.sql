-- Look-ups of contracts: those of one chain in the order of their matches, and all chains of an address.
--
-- The first takes the place of the index on verified_contract_id alone: nothing asks for a match without its chain,
-- and the reference from verified_contracts is to rows that are never deleted.

DROP INDEX current_matches_verified_contract_id;
CREATE INDEX current_matches_of_chain ON current_matches (chain_id, verified_contract_id);
CREATE INDEX current_matches_of_address ON current_matches (address, chain_id);
