-- Records of an accepted chain list that are not believed: each stays as it was in force before.
CREATE TABLE chain_list_held_records (
  snapshot_id bigint NOT NULL REFERENCES chain_list_snapshots (id) ON DELETE CASCADE,
  chain_id bigint NOT NULL,
  -- What is served in place of the list's record. Text as it was: jsonb would reorder its keys.
  record json NOT NULL,
  PRIMARY KEY (snapshot_id, chain_id)
);
