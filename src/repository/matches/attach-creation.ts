import { hexToBytes } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { addToCounts } from '../statistics/chain-counts.ts';
import { storeDeployments } from '../evidence/evidence.ts';
import { dropAllAlternatives } from './alternative-matches.ts';
import { requireCurrentReadings } from './outdated-reading.ts';
import { deploymentId } from './verified-contract-identity.ts';
import { type Match, type Transformed, type VerifiedContract } from './verified-contract.ts';

const LOCK_SHOWN = sql(
  'lock match to attach a creation',
  `SELECT match FROM current_matches WHERE chain_id = $1 AND address = $2 AND verified_contract_id = $3 FOR UPDATE`,
);
const ATTACH = sql(
  'attach creation',
  `WITH evidence AS (
     INSERT INTO verified_contracts AS stored (deployment_id, compilation_id,
       creation_match, creation_metadata_match, creation_values, creation_transformations, creation_search,
       runtime_match, runtime_metadata_match, runtime_values, runtime_transformations, code_reading,
       source, matcher_version)
     SELECT $4, compilation_id, $5::match IS NOT NULL, $5::match = 'full', $6::jsonb, $7::jsonb, $8::jsonb,
       runtime_match, runtime_metadata_match, runtime_values, runtime_transformations, code_reading,
       source, matcher_version
     FROM verified_contracts WHERE id = $3
     ON CONFLICT (compilation_id, deployment_id) DO UPDATE SET
       creation_match = excluded.creation_match, creation_metadata_match = excluded.creation_metadata_match,
       creation_values = excluded.creation_values, creation_transformations = excluded.creation_transformations,
       creation_search = excluded.creation_search, runtime_match = excluded.runtime_match,
       runtime_metadata_match = excluded.runtime_metadata_match, runtime_values = excluded.runtime_values,
       runtime_transformations = excluded.runtime_transformations, code_reading = excluded.code_reading,
       source = excluded.source, matcher_version = excluded.matcher_version, updated_at = now()
     RETURNING id
   ), shown AS (
     UPDATE current_matches AS current SET verified_contract_id = evidence.id, creation_match = $5,
       match_before = current.match, updated_at = now()
     FROM evidence WHERE chain_id = $1 AND address = $2 RETURNING current.*
   )
   INSERT INTO match_events
     (kind, chain_id, address, match_before, match_after, runtime_match, creation_match, origin, trust, verified_contract_id)
   SELECT 'upgraded', chain_id, address, match_before, match, runtime_match, creation_match, origin, trust, verified_contract_id
   FROM shown RETURNING id, match_after`,
);

/** A creation confirmed on chain, and how the creation bytecode of the current text matches. */
export interface LateCreation {
  /** What was read of the contract, and when: it becomes the deployment of the record. */
  readonly contract: ReadContract;
  /** The number of the current match. */
  readonly matchId: string;
  /** How the creation bytecode of the current compilation matches. */
  readonly creationMatch: Match | null;
  readonly creation?: Transformed;
}

type ReadContract = Pick<
  VerifiedContract,
  'chainId' | 'address' | 'deployment' | 'creationSearch' | 'readAfterEvent'
>;

/**
 * Attaches a creation to the current match, within the caller's transaction: the same text under a new
 * number, with chain facts that were unknown before. Records an event. The counts change only if the creation
 * makes the match full.
 * @returns the number of the event; undefined if another match is current by now
 * @throws FullmatchError contract_changed as {@link requireCurrentReadings}
 */
export async function attachCreation(
  transaction: Queryable,
  late: LateCreation,
): Promise<string | undefined> {
  const { contract, matchId, creationMatch, creation } = late;
  const { chainId, address, creationSearch } = contract;
  const key = [chainId, hexToBytes(address), matchId];
  const [shown] = await transaction.query<{ match: Match }>(LOCK_SHOWN, key);
  if (shown === undefined) return undefined;
  await requireCurrentReadings(transaction, [contract]);
  await storeDeployments(transaction, [contract]);
  const [event] = await transaction.query<{ id: string; match_after: Match }>(ATTACH, [
    ...key,
    deploymentId(contract),
    creationMatch,
    creation === undefined ? null : JSON.stringify(creation.values),
    creation === undefined ? null : JSON.stringify(creation.transformations),
    creationSearch === undefined ? null : JSON.stringify(creationSearch),
  ]);
  if (event === undefined) return undefined;
  if (event.match_after === 'full') await dropAllAlternatives(transaction, chainId, address);
  await addToCounts(transaction, [{ chainId, before: shown.match, after: event.match_after }]);
  return event.id;
}
