import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type Match, type Origin, type Trust } from './verified-contract.ts';

const READ_CURRENT = sql(
  'read current matches',
  `SELECT address, match, origin, trust, EXISTS (SELECT FROM alternative_matches AS kept
     WHERE (kept.chain_id, kept.address) = (current_matches.chain_id, current_matches.address)) AS has_judged_texts
   FROM current_matches WHERE chain_id = $1 AND address = ANY ($2::bytea[])`,
);

/** What an address has, and who judged it. */
export interface CurrentMatch {
  readonly match: Match;
  readonly origin: Origin;
  readonly trust: Trust;
  /** Whether other texts that this service judged are kept beside it. */
  readonly hasJudgedTexts: boolean;
}

type CurrentRow = Pick<CurrentMatch, 'match' | 'origin' | 'trust'> & {
  readonly address: Buffer;
  readonly has_judged_texts: boolean;
};

/** The current match of each of the addresses (lower-case hex) that has one on the chain. */
export async function readCurrentMatches(
  database: Queryable,
  chainId: number,
  addresses: readonly Hex[],
): Promise<Map<Hex, CurrentMatch>> {
  const rows = await database.query<CurrentRow>(READ_CURRENT, [chainId, addresses.map(hexToBytes)]);
  return new Map(
    rows.map(({ address, match, origin, trust, has_judged_texts: hasJudgedTexts }) => [
      bytesToHex(address),
      { match, origin, trust, hasJudgedTexts },
    ]),
  );
}
