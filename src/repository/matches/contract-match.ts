import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { type Match, type Origin } from './verified-contract.ts';

/** The current match of a contract, without its evidence: one row. */
export interface ContractMatch {
  readonly chainId: number;
  /** Lower-case hex, 20 bytes. */
  readonly address: Hex;
  /** The better of the two. */
  readonly match: Match;
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  readonly origin: Origin;
  /** When this service stored the current match, and the first one of this address. */
  readonly verifiedAt: Date;
  readonly firstVerifiedAt: Date;
  /**
   * Number of the evidence of the match, in decimal digits. It stays while the match stays. A match with new
   * evidence gets a higher number than all before, so ascending numbers are in storing order; a contract that
   * is withdrawn and stored again with the same evidence gets its number back. Absent if the evidence is
   * unknown (a match that a recount restored).
   */
  readonly matchId?: string;
}

/** Columns of current_matches that {@link toContractMatch} reads. */
export const MATCH_COLUMNS = `chain_id, address, match, runtime_match, creation_match, origin,
  updated_at, first_matched_at, verified_contract_id`;

/** The same with their table's name, for joins. */
export const QUALIFIED_MATCH_COLUMNS = MATCH_COLUMNS.split(',')
  .map((column) => `current_matches.${column.trim()}`)
  .join(', ');

/** A row of {@link MATCH_COLUMNS}. */
export interface MatchRow {
  chain_id: string;
  address: Buffer;
  match: Match;
  runtime_match: Match | null;
  creation_match: Match | null;
  origin: Origin;
  updated_at: Date;
  first_matched_at: Date;
  verified_contract_id: string | null;
}

/** Converts a row of {@link MATCH_COLUMNS}. */
export function toContractMatch(row: MatchRow): ContractMatch {
  return {
    chainId: Number(row.chain_id),
    address: bytesToHex(row.address),
    match: row.match,
    runtimeMatch: row.runtime_match,
    creationMatch: row.creation_match,
    origin: row.origin,
    verifiedAt: row.updated_at,
    firstVerifiedAt: row.first_matched_at,
    ...(row.verified_contract_id !== null && { matchId: row.verified_contract_id }),
  };
}
