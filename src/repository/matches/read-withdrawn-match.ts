import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { SHOWN_NAME } from './contract-summary.ts';
import { type Match, type Origin } from './verified-contract.ts';

/** The last match of a contract that has none now. */
export interface WithdrawnMatch {
  readonly withdrawnAt: Date;
  readonly reason: string;
  readonly match: Match;
  readonly origin: Origin | null;
  /** Its compilation; absent if the evidence is unknown or hidden. */
  readonly compilation?: WithdrawnCompilation;
}

/** The compilation of a withdrawn match, without its settings. */
export interface WithdrawnCompilation {
  readonly name: string;
  readonly fullyQualifiedName: string;
  readonly language: string;
  readonly compiler: string;
  readonly compilerVersion: string;
}

/** The event that left an address without a match, as a table expression; $1 is the chain and $2 the address. */
export const WITHDRAWAL = `(
     SELECT newest.* FROM (
       SELECT * FROM match_events
       WHERE chain_id = $1 AND address = $2 AND kind <> 'corrected' ORDER BY id DESC LIMIT 1
     ) AS newest
     WHERE kind = 'withdrawn'
       AND NOT EXISTS (SELECT FROM current_matches WHERE chain_id = $1 AND address = $2)
   ) AS withdrawal`;

/** SQL condition: the operator shows the sources of the withdrawn match. */
export const ARE_SOURCES_SHOWN =
  'NOT EXISTS (SELECT FROM hidden_sources WHERE chain_id = $1 AND address = $2)';

const READ_WITHDRAWN = sql(
  'read withdrawn match',
  `SELECT withdrawal.recorded_at, reason, match_before, origin,
     ${SHOWN_NAME} AS name, fully_qualified_name, language, compiler, version
   FROM ${WITHDRAWAL}
   LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id AND ${ARE_SOURCES_SHOWN}
   LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id`,
);

interface WithdrawnRow {
  recorded_at: Date;
  reason: string;
  match_before: Match;
  origin: Origin | null;
  name: string | null;
  fully_qualified_name: string | null;
  language: string | null;
  compiler: string | null;
  version: string | null;
}

/**
 * Reads the match whose withdrawal left a contract without one. Its evidence stays in the store.
 * @returns undefined if the address (lower-case hex) has a match on the chain, or never had one
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function readWithdrawnMatch(
  database: Queryable,
  chainId: number,
  address: Hex,
): Promise<WithdrawnMatch | undefined> {
  const [row] = await database.query<WithdrawnRow>(READ_WITHDRAWN, [chainId, hexToBytes(address)]);
  if (row === undefined) return undefined;
  const { recorded_at: withdrawnAt, reason, match_before: match, origin, name } = row;
  return {
    ...{ withdrawnAt, reason, match, origin },
    ...(name !== null && {
      compilation: {
        name,
        fullyQualifiedName: row.fully_qualified_name ?? '',
        language: row.language ?? '',
        compiler: row.compiler ?? '',
        compilerVersion: row.version ?? '',
      },
    }),
  };
}
