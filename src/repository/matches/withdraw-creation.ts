import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { addToCounts } from '../statistics/chain-counts.ts';
import { storeDeployments, type Deployed } from '../evidence/evidence.ts';
import { clearCreationProof } from './correct-deployment.ts';
import { containsImmutables } from './unproven.ts';
import { deploymentId } from './verified-contract-identity.ts';
import { type Match } from './verified-contract.ts';
import { withdrawRow, type WithdrawnRow } from './withdraw-match.ts';

const READ_RUNTIME_VALUES = sql(
  'read runtime values',
  'SELECT runtime_values FROM verified_contracts WHERE id = $1',
);
const STORE_RUNTIME_SIDE = sql(
  'store runtime side',
  `WITH evidence AS (
     INSERT INTO verified_contracts AS stored (deployment_id, compilation_id, creation_match,
       runtime_match, runtime_metadata_match, runtime_values, runtime_transformations, code_reading, source, matcher_version)
     SELECT $2, compilation_id, false,
       runtime_match, runtime_metadata_match, runtime_values, runtime_transformations, code_reading, source, matcher_version
     FROM verified_contracts WHERE id = $1
     ON CONFLICT (compilation_id, deployment_id) DO UPDATE SET
       runtime_match = excluded.runtime_match, runtime_metadata_match = excluded.runtime_metadata_match,
       runtime_values = excluded.runtime_values, runtime_transformations = excluded.runtime_transformations,
       code_reading = excluded.code_reading,
       source = excluded.source, matcher_version = excluded.matcher_version, updated_at = now()
     RETURNING id
   ), shown AS (
     INSERT INTO current_matches (chain_id, address, runtime_match, origin, verified_contract_id,
       first_matched_at, runtime_code_hash, text_hash, trust)
     SELECT $3, $4, $5, $6, id, $7, $8, $9, $10 FROM evidence RETURNING *
   )
   INSERT INTO match_events (kind, chain_id, address, match_after, runtime_match, origin, trust, verified_contract_id)
   SELECT 'stored', chain_id, address, match, runtime_match, origin, trust, verified_contract_id FROM shown RETURNING id`,
);

/** The match that loses its creation, and the reason. */
export interface CreationWithdrawal {
  readonly chainId: number;
  readonly address: Hex;
  readonly reason: string;
  /** Number of the match: a different one that was stored meanwhile stays. */
  readonly matchId: string;
  /** The runtime bytecode of the match. */
  readonly runtimeCode: Uint8Array;
  /** The newest block of the reading that gave the reason. */
  readonly readAtBlock: number;
}

/**
 * Withdraws a match whose creation transaction did not deploy the current contract, and stores what remains
 * true in the same transaction, which the caller runs: the runtime match, without a creation transaction.
 * Nothing remains if there is no runtime match, or if it has immutables that only matching creation bytecode
 * proves. There is one event for each change, so the log is complete, and the withdrawn evidence stays in the
 * store.
 * @returns false if the current match is no longer `matchId`: nothing changed
 */
export async function withdrawCreation(
  transaction: Queryable,
  withdrawal: CreationWithdrawal,
): Promise<boolean> {
  const row = await withdrawRow(transaction, withdrawal);
  if (row === undefined) return false;
  await clearCreationProof(transaction, withdrawal.matchId);
  const kept = await keepRuntimeSide(transaction, withdrawal, row);
  const { chainId } = withdrawal;
  await addToCounts(transaction, [{ chainId, before: row.match, after: kept ?? null }]);
  return true;
}

async function keepRuntimeSide(
  transaction: Queryable,
  { chainId, address, matchId, runtimeCode }: CreationWithdrawal,
  row: WithdrawnRow,
): Promise<Match | undefined> {
  const match = row.runtime_match;
  if (match === null) return undefined;
  const [evidence] = await transaction.query<{ runtime_values: Record<string, unknown> | null }>(
    READ_RUNTIME_VALUES,
    [matchId],
  );
  if (containsImmutables(evidence?.runtime_values ?? null)) return undefined;
  const deployed: Deployed = { chainId, address, deployment: { runtimeCode } };
  await storeDeployments(transaction, [deployed]);
  const [event] = await transaction.query<{ id: string }>(STORE_RUNTIME_SIDE, [
    matchId,
    deploymentId(deployed),
    chainId,
    hexToBytes(address),
    match,
    row.origin,
    row.first_matched_at,
    row.runtime_code_hash,
    row.text_hash,
    row.trust,
  ]);
  return event && match;
}
