-- Imported claims that the code on chain disproved. An import asks for each contract whether its claim is one of them.
CREATE INDEX match_events_disproving_claims ON match_events (chain_id, address) WHERE reason = 'claim_disproved';
