import { FullmatchError } from '../../errors.ts';
import { checksumAddress, bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { hashOf } from './verified-contract-identity.ts';
import { type VerifiedContract } from './verified-contract.ts';

/** Reason for withdrawing a match whose bytecode is no longer the code at its address. */
export const CODE_REPLACED = 'code_replaced';
/** Reason for a creation that a later, known transaction replaced. */
export const CREATION_REPLACED = 'creation_replaced';
/** Reason for a creation whose transaction did not deploy the current code, as states of the chain show. */
export const CREATION_DISPROVED = 'creation_disproved';
/** Reason if the chain replaced the creation's block, and the address has had no code since. */
export const CREATION_ROLLED_BACK = 'creation_rolled_back';
/** Reason for an imported full match if the code on chain does not contain the hash of its metadata. */
export const CLAIM_DISPROVED = 'claim_disproved';

const READ_NEWEST_EVENT = sql(
  'read newest event of a contract',
  `SELECT coalesce(max(id), 0) AS id FROM match_events
   WHERE chain_id = $1 AND address = $2 AND kind <> 'corrected'`,
);

// Every event of an address except a correction is written under the lock of its current row, so these events
// are committed in the order of their numbers, and a higher number is a later event. Two creations found at
// the same time are not reconciled with each other, so the second verification is repeated. The same applies
// if the claim of a full match was imported meanwhile: the code was not compared with it.
const FIND_OUTDATED = sql(
  'find outdated readings',
  `SELECT row.chain_id, row.address
   FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bigint[])
     AS row (chain_id, address, runtime_code_hash, transaction_hash, read_after)
   WHERE EXISTS (
     SELECT FROM current_matches AS current
     WHERE current.chain_id = row.chain_id AND current.address = row.address
       AND current.runtime_code_hash <> row.runtime_code_hash
   ) OR EXISTS (
     SELECT FROM match_events AS event
     JOIN verified_contracts ON verified_contracts.id = event.verified_contract_id
     JOIN contract_deployments ON contract_deployments.id = deployment_id
     LEFT JOIN contracts ON contracts.id = contract_id
     WHERE event.chain_id = row.chain_id AND event.address = row.address AND event.id > row.read_after
       AND (kind IN ('stored', 'upgraded') AND (contract_deployments.transaction_hash <> row.transaction_hash
           OR event.origin = 'imported' AND match_after = 'full')
         OR kind = 'withdrawn' AND (
           reason IN ('${CODE_REPLACED}', '${CREATION_ROLLED_BACK}') AND contracts.runtime_code_hash = row.runtime_code_hash
           OR reason IN ('${CREATION_REPLACED}', '${CREATION_DISPROVED}')
             AND contract_deployments.transaction_hash = row.transaction_hash))
   )
   LIMIT 1`,
);

/**
 * Number of the newest event of a contract's match, '0' if there is none. A caller that reads it before the
 * chain can tell later whether a withdrawal is newer than its reading.
 */
export async function readNewestEvent(
  database: Queryable,
  chainId: number,
  address: Hex,
): Promise<string> {
  const [row] = await database.query<{ id: string }>(READ_NEWEST_EVENT, [
    chainId,
    hexToBytes(address),
  ]);
  return row?.id ?? '0';
}

/** Error for a contract that changed on chain since it was read. */
export function contractChanged(chainId: number, address: Hex): FullmatchError {
  return new FullmatchError(
    'contract_changed',
    `The contract ${checksumAddress(address)} on chain ${chainId} changed during verification; verify it again.`,
    { details: { chainId, address } },
  );
}

/**
 * Rejects readings of a chain that are outdated because a different reading was stored meanwhile: a match of
 * other bytecode or another creation, or the withdrawal of this bytecode or creation. The caller holds the
 * rows of the current matches, so the result holds until its commit. Contracts without a reading time are not
 * checked.
 * @throws FullmatchError contract_changed
 */
export async function requireCurrentReadings(
  transaction: Queryable,
  contracts: readonly Pick<
    VerifiedContract,
    'chainId' | 'address' | 'deployment' | 'readAfterEvent'
  >[],
): Promise<void> {
  const read = contracts.filter(({ readAfterEvent }) => readAfterEvent !== undefined);
  if (read.length === 0) return;
  const [outdated] = await transaction.query<{ chain_id: string; address: Buffer }>(FIND_OUTDATED, [
    read.map(({ chainId }) => chainId),
    read.map(({ address }) => hexToBytes(address)),
    read.map(({ deployment }) => hashOf(deployment.runtimeCode)),
    read.map(({ deployment: { transactionHash } }) =>
      transactionHash === undefined ? null : hexToBytes(transactionHash),
    ),
    read.map(({ readAfterEvent }) => readAfterEvent),
  ]);
  if (outdated === undefined) return;
  throw contractChanged(Number(outdated.chain_id), bytesToHex(outdated.address));
}
