-- A contract is found by the transaction that created it.
CREATE INDEX contract_deployments_transaction_hash ON contract_deployments (transaction_hash)
  WHERE transaction_hash IS NOT NULL;
