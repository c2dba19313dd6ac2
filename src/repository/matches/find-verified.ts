import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { SHOWN_NAME, SUMMARY_EVIDENCE } from './contract-summary.ts';
import { type Match, type Origin } from './verified-contract.ts';

/** A contract with a match, in a few words. */
export interface NamedContract {
  readonly name: string;
  readonly match: Match;
  readonly origin: Origin;
  readonly compiler: string;
  readonly compilerVersion: string;
}

const FIND_VERIFIED = sql(
  'find verified contracts',
  `SELECT found.address, ${SHOWN_NAME} AS name, found.match, found.origin,
     compiled_contracts.compiler, compiled_contracts.version AS "compilerVersion"
   FROM current_matches AS found ${SUMMARY_EVIDENCE}
   WHERE found.chain_id = $1 AND found.address = ANY ($2::bytea[])`,
);

/**
 * Finds those of the addresses (lower-case hex) that have a match on a chain.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function findVerified(
  database: Queryable,
  chainId: number,
  addresses: readonly Hex[],
): Promise<ReadonlyMap<Hex, NamedContract>> {
  const values = [chainId, addresses.map(hexToBytes)];
  const rows = await database.query<NamedContract & { address: Buffer }>(FIND_VERIFIED, values);
  return new Map(rows.map(({ address, ...contract }) => [bytesToHex(address), contract]));
}
