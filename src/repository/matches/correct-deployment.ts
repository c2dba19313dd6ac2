import { hexToBytes } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type Deployed } from '../evidence/evidence.ts';

/** Reason of the event that lists the corrected facts of a stored creation. */
export const DEPLOYMENT_CORRECTED = 'deployment_corrected';

// The block of a transaction is a single fact, however many deployments of a contract name the transaction.
const CORRECT = sql(
  'correct deployment',
  `WITH wrong AS (
     SELECT * FROM contract_deployments
     WHERE chain_id = $1 AND address = $2 AND transaction_hash = $3
       AND (block_number, transaction_index, deployer)
         IS DISTINCT FROM ($4::numeric, $5::numeric, $6::bytea)
     ORDER BY id FOR NO KEY UPDATE
   ), corrected AS (
     UPDATE contract_deployments AS stored
     SET block_number = $4, transaction_index = $5, deployer = $6, updated_at = now()
     FROM wrong WHERE stored.id = wrong.id
     RETURNING concat_ws(', ', CASE WHEN wrong.block_number <> $4 THEN 'block_number' END,
       CASE WHEN wrong.transaction_index <> $5 THEN 'transaction_index' END,
       CASE WHEN wrong.deployer <> $6 THEN 'deployer' END) AS facts
   )
   INSERT INTO match_events (kind, chain_id, address, reason)
   SELECT DISTINCT 'corrected'::match_event_kind, $1::bigint, $2::bytea, $7 || ': ' || facts
   FROM corrected WHERE facts <> ''
   RETURNING id`,
);

// Imports name deployments without creation bytecode: a later import names the same one again, and shares its
// row.
const FORGET_PROOF = sql(
  'forget proof of a creation',
  `UPDATE contract_deployments AS stored
   SET block_number = NULL, transaction_index = NULL, deployer = NULL, updated_at = now()
   FROM verified_contracts JOIN contract_deployments AS denied ON denied.id = deployment_id
   WHERE verified_contracts.id = $1 AND stored.chain_id = denied.chain_id AND stored.address = denied.address
     AND stored.transaction_hash = denied.transaction_hash AND stored.block_number IS NOT NULL
     AND NOT EXISTS (SELECT FROM contracts
       WHERE contracts.id = stored.contract_id AND creation_code_hash IS NOT NULL)`,
);

/**
 * Removes the proof of a match's creation transaction after the chain denied it: the statement of a later
 * import is a claim again.
 */
export async function clearCreationProof(transaction: Queryable, matchId: string): Promise<void> {
  await transaction.query(FORGET_PROOF, [matchId]);
}

/**
 * Corrects the stored facts of a creation from an agreed reading of the chain: block, index and deployer. An
 * unknown fact is filled in; a wrong one is reported by a `corrected` event. A contract without a creation
 * transaction is left unchanged.
 * @returns whether something was wrong
 */
export async function correctDeployment(
  database: Queryable,
  { chainId, address, deployment }: Deployed,
): Promise<boolean> {
  const { transactionHash, blockNumber, transactionIndex, deployer } = deployment;
  const isKnown =
    transactionHash !== undefined &&
    blockNumber !== undefined &&
    transactionIndex !== undefined &&
    deployer !== undefined;
  if (!isKnown) return false;
  const events = await database.query(CORRECT, [
    chainId,
    hexToBytes(address),
    hexToBytes(transactionHash),
    blockNumber,
    transactionIndex,
    hexToBytes(deployer),
    DEPLOYMENT_CORRECTED,
  ]);
  return events.length > 0;
}
