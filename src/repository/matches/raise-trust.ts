import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Database } from '../../store/database.ts';
import { notifyOfMatches } from './match-notifications.ts';
import { type Match } from './verified-contract.ts';

const RAISE = sql(
  'raise trust',
  `WITH raised AS (
     UPDATE current_matches SET trust = 'recompiled', match_before = match, updated_at = now()
     WHERE chain_id = $1 AND address = $2 AND verified_contract_id = $3 AND origin = 'imported' AND trust < 'recompiled'
       AND runtime_match IS NOT DISTINCT FROM $4 AND creation_match IS NOT DISTINCT FROM $5
     RETURNING *
   )
   INSERT INTO match_events
     (kind, chain_id, address, match_before, match_after, runtime_match, creation_match, origin, trust, verified_contract_id)
   SELECT 'upgraded', chain_id, address, match, match, runtime_match, creation_match, origin, trust, verified_contract_id
   FROM raised RETURNING id`,
);

/**
 * Records that the sources of an imported match compile to the delivered bytecode: an `upgraded` event that
 * keeps the match.
 * @returns false if it is no longer the current match with these levels, or has that trust already
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function markRecompiled(
  database: Database,
  claim: {
    readonly chainId: number;
    readonly address: Hex;
    readonly matchId: string;
    /** The levels that were compared: another import may have claimed more since. */
    readonly runtimeMatch: Match | null;
    readonly creationMatch: Match | null;
  },
): Promise<boolean> {
  const events = await database.query(RAISE, [
    ...[claim.chainId, hexToBytes(claim.address), claim.matchId],
    ...[claim.runtimeMatch, claim.creationMatch],
  ]);
  if (events.length === 0) return false;
  await notifyOfMatches(database);
  return true;
}
