import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';

/** Selects stored matches to verify again from their own sources. */
export interface ReverifyFilter {
  /** Only matches stored at this time or later. */
  readonly since?: Date;
  /** Only matches imported from this source. */
  readonly source?: string;
  /**
   * Only evidence from an earlier matcher, or from none. Without it only imported matches are listed; with it
   * also those verified here.
   */
  readonly matcherBefore?: number;
}

/** Matches examined by one statement, however few of them satisfy the filter. */
const PAGE = 5_000;

// By primary key: a row that is verified meanwhile keeps its position. The last row of the page says where the
// next one begins.
const LIST = sql(
  'list matches to reverify',
  `WITH page AS MATERIALIZED (
     SELECT address, verified_contract_id, origin, updated_at FROM current_matches
     WHERE chain_id = $1 AND address > $2 ORDER BY address LIMIT ${PAGE}
   ), judged AS (
     SELECT address, verified_contracts.id IS NOT NULL AND (origin = 'imported' OR $5::integer IS NOT NULL)
       AND ($3::timestamptz IS NULL OR page.updated_at >= $3)
       AND ($4::text IS NULL OR source IS NOT DISTINCT FROM $4)
       AND ($5::integer IS NULL OR coalesce(matcher_version, 0) < $5) AS is_wanted
     FROM page LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   )
   SELECT address, is_wanted FROM judged
   WHERE is_wanted OR address = (SELECT address FROM page ORDER BY address DESC LIMIT 1)
   ORDER BY address`,
);

/** Yields the contracts of a chain whose matches satisfy the filter, by address, page by page. */
export async function* listMatchesToReverify(
  database: Queryable,
  chainId: number,
  { since, source, matcherBefore }: ReverifyFilter,
): AsyncGenerator<Hex> {
  const filter = [since?.toISOString() ?? null, source ?? null, matcherBefore ?? null];
  for (let after: Buffer | undefined = Buffer.alloc(0); after !== undefined;) {
    const rows: readonly { address: Buffer; is_wanted: boolean }[] = await database.query(LIST, [
      chainId,
      after,
      ...filter,
    ]);
    for (const { address, is_wanted: isWanted } of rows) if (isWanted) yield bytesToHex(address);
    after = rows.at(-1)?.address;
  }
}
