import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { MAX_NAME_BYTES } from '../../lib/source-path.ts';
import { type Match, type Origin, type Trust } from './verified-contract.ts';

/** Entry of a contract in a list. */
export interface ContractSummary {
  readonly chainId: number;
  /** Lower-case hex, 20 bytes. */
  readonly address: Hex;
  readonly match: Match;
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  readonly name: string;
  readonly language: string;
  readonly compilerVersion: string;
  readonly origin: Origin;
  readonly trust: Trust;
  readonly verifiedAt: Date;
  /** See `matchId` of a ContractMatch. */
  readonly matchId: string;
}

/** Page size and cursor. */
export interface PageQuery {
  readonly limit: number;
  /** The `next` of the previous page. */
  readonly after?: string;
}

/** Filter of a list; absent fields exclude nothing. */
export interface ListQuery extends PageQuery {
  readonly chainId?: number;
  readonly match?: Match;
  readonly origin?: Origin;
  /** Minimum trust. */
  readonly trust?: Trust;
}

/** A page of a list and the cursor of the next one; undefined on the last page. */
export interface SummaryPage {
  readonly results: readonly ContractSummary[];
  readonly next: string | undefined;
}

/** The name of a compilation as lists and events show it: names were not limited in length at first. */
export const SHOWN_NAME = `left(compiled_contracts.name, ${MAX_NAME_BYTES})`;

/** The columns that {@link toPage} reads, of {@link SUMMARY_EVIDENCE}. */
export const SUMMARY_COLUMNS = `found.chain_id, found.address, found.match, found.runtime_match, found.creation_match,
     ${SHOWN_NAME} AS name, compiled_contracts.language, compiled_contracts.version, found.origin, found.trust, found.updated_at,
     found.verified_contract_id`;

/** Joins the evidence of a row `found` of current_matches: two lookups by key for each row shown. */
export const SUMMARY_EVIDENCE = `JOIN verified_contracts ON verified_contracts.id = found.verified_contract_id
   JOIN compiled_contracts ON compiled_contracts.id = verified_contracts.compilation_id`;

/** A row of {@link SUMMARY_COLUMNS}. */
export interface SummaryRow {
  chain_id: string;
  address: Buffer;
  match: Match;
  runtime_match: Match | null;
  creation_match: Match | null;
  name: string;
  language: string;
  version: string;
  origin: Origin;
  trust: Trust;
  updated_at: Date;
  verified_contract_id: string;
}

/** Converts a row of {@link SUMMARY_COLUMNS}. */
function toSummary(row: SummaryRow): ContractSummary {
  return {
    chainId: Number(row.chain_id),
    address: bytesToHex(row.address),
    match: row.match,
    runtimeMatch: row.runtime_match,
    creationMatch: row.creation_match,
    name: row.name,
    language: row.language,
    compilerVersion: row.version,
    origin: row.origin,
    trust: row.trust,
    verifiedAt: row.updated_at,
    matchId: row.verified_contract_id,
  };
}

/** Builds a page of `limit` rows. The query requests one row more, which tells whether another page follows. */
export function toPage<Row extends SummaryRow>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): SummaryPage {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    results: shown.map(toSummary),
    next: rows.length > limit && last !== undefined ? cursorOf(last) : undefined,
  };
}
