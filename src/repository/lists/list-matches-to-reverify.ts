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

const PAGE = 500;

// By primary key: a row that is verified meanwhile keeps its position.
const LIST = sql(
  'list matches to reverify',
  `SELECT address FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   WHERE chain_id = $1 AND address > $2 AND (origin = 'imported' OR $5::integer IS NOT NULL)
     AND ($3::timestamptz IS NULL OR current_matches.updated_at >= $3)
     AND ($4::text IS NULL OR source = $4)
     AND ($5::integer IS NULL OR coalesce(matcher_version, 0) < $5)
   ORDER BY address LIMIT ${PAGE}`,
);

/** Yields the contracts of a chain whose matches satisfy the filter, by address, page by page. */
export async function* listMatchesToReverify(
  database: Queryable,
  chainId: number,
  { since, source, matcherBefore }: ReverifyFilter,
): AsyncGenerator<Hex> {
  const filter = [since?.toISOString() ?? null, source ?? null, matcherBefore ?? null];
  for (let after: Buffer | undefined = Buffer.alloc(0); after !== undefined;) {
    const rows: readonly { address: Buffer }[] = await database.query(LIST, [
      chainId,
      after,
      ...filter,
    ]);
    for (const { address } of rows) yield bytesToHex(address);
    after = rows.length < PAGE ? undefined : rows.at(-1)?.address;
  }
}
