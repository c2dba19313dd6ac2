import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type Match, type Origin, type Trust } from './verified-contract.ts';

const READ_CURRENT = sql(
  'read current matches',
  `SELECT place::integer AS place, match, origin, trust, EXISTS (SELECT FROM alternative_matches AS kept
     WHERE (kept.chain_id, kept.address) = (current.chain_id, current.address)) AS has_judged_texts
   FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS asked (chain_id, address, place)
   JOIN current_matches AS current USING (chain_id, address)`,
);

/** Current match of an address, and who verified it. */
export interface CurrentMatch {
  readonly match: Match;
  readonly origin: Origin;
  readonly trust: Trust;
  /** Whether other texts verified here are kept in addition. */
  readonly hasJudgedTexts: boolean;
}

type CurrentRow = Pick<CurrentMatch, 'match' | 'origin' | 'trust'> & {
  /** From 1. */
  readonly place: number;
  readonly has_judged_texts: boolean;
};

/** The current match of each contract, in the given order; undefined if it has none. Addresses are lower-case hex. */
export async function readCurrentMatches(
  database: Queryable,
  contracts: readonly { readonly chainId: number; readonly address: Hex }[],
): Promise<(CurrentMatch | undefined)[]> {
  const rows = await database.query<CurrentRow>(READ_CURRENT, [
    contracts.map(({ chainId }) => chainId),
    contracts.map(({ address }) => hexToBytes(address)),
  ]);
  const found = contracts.map((): CurrentMatch | undefined => undefined);
  for (const { place, match, origin, trust, has_judged_texts: hasJudgedTexts } of rows) {
    found[place - 1] = { match, origin, trust, hasJudgedTexts };
  }
  return found;
}
