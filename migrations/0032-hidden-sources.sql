-- Contracts whose withdrawn sources the operator does not show. A new match of the contract is shown like any other.
CREATE TABLE hidden_sources (
  chain_id bigint NOT NULL CHECK (chain_id BETWEEN 1 AND 9007199254740991),
  address bytea NOT NULL CHECK (octet_length(address) = 20),
  PRIMARY KEY (chain_id, address)
);
