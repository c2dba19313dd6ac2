import { FullmatchError } from '../../errors.ts';
import { checksumAddress, bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { hashOf } from './verified-contract-identity.ts';
import { type VerifiedContract } from './verified-contract.ts';

/** The reason of the withdrawal of a match whose code is not the code at its address any more. */
export const CODE_REPLACED = 'code_replaced';
/** The reason for a creation that a later, known transaction replaced. */
export const CREATION_REPLACED = 'creation_replaced';
/** The reason for a creation whose transaction did not leave the code of today, as the states of the chain show. */
export const CREATION_DISPROVED = 'creation_disproved';
/** The reason where the chain replaced the block of the creation, and no code stands at the address since. */
export const CREATION_ROLLED_BACK = 'creation_rolled_back';
/** The reason for an imported full match when the code on chain does not hold the hash of its metadata. */
export const CLAIM_DISPROVED = 'claim_disproved';

const READ_NEWEST_EVENT = sql(
  'read newest event of a contract',
  `SELECT coalesce(max(id), 0) AS id FROM match_events
   WHERE chain_id = $1 AND address = $2 AND kind <> 'corrected'`,
);

// Each event of an address but a correction is written under the lock of its current row, so these events are committed
// in the order of their numbers, and a larger number is a later event. Of two creations that were found at the same time
// neither reading was settled against the other: the one that comes second begins again. So does one beside a claim of a
// full match that was imported meanwhile: the code was not held against it.
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
 * The number of the newest change of a contract's match, '0' where there is none. A caller that asks before reading the chain can say
 * later whether a withdrawal is newer than the reading.
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

/** The error for a contract that is not on chain any more what it was when it was read. */
export function contractChanged(chainId: number, address: Hex): FullmatchError {
  return new FullmatchError(
    'contract_changed',
    `The contract ${checksumAddress(address)} on chain ${chainId} changed during verification; verify it again.`,
    { details: { chainId, address } },
  );
}

/**
 * Refuses what was read of a chain before others read something else and stored that: a match of other code or of another
 * creation, or the withdrawal of this code or creation. The caller holds the rows of the current matches, so that the answer stays true
 * until its commit. What does not say when it was read is not asked.
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
