import { FullmatchError } from '../../errors.ts';
import { checksumAddress, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { addToCounts } from '../statistics/chain-counts.ts';
import { notifyOfMatches } from './match-notifications.ts';
import { type Match, type Origin, type Trust } from './verified-contract.ts';

const WITHDRAW = sql(
  'withdraw match',
  `WITH withdrawn AS (
     DELETE FROM current_matches
     WHERE chain_id = $1 AND address = $2 AND ($4::bytea IS NULL OR runtime_code_hash = $4)
       AND ($5::bigint IS NULL OR verified_contract_id = $5) RETURNING *
   ), logged AS (
     INSERT INTO match_events (kind, chain_id, address, match_before, origin, verified_contract_id, reason, read_at_block)
     SELECT 'withdrawn', chain_id, address, match, origin, verified_contract_id, $3, $6 FROM withdrawn
     RETURNING id
   )
   SELECT match, runtime_match, origin, trust, first_matched_at, runtime_code_hash, text_hash, logged.id AS event_id
   FROM withdrawn, logged`,
);

/** A current match that was withdrawn, and its event. */
export interface WithdrawnRow {
  readonly match: Match;
  readonly runtime_match: Match | null;
  readonly origin: Origin;
  readonly trust: Trust;
  readonly first_matched_at: Date;
  readonly runtime_code_hash: Buffer | null;
  readonly text_hash: Buffer | null;
  readonly event_id: string;
}

/** Removes a match and records the reason, in a transaction that then corrects the counts. */
export async function withdrawRow(
  transaction: Queryable,
  { chainId, address, reason, runtimeCodeHash, matchId, readAtBlock }: Withdrawal,
): Promise<WithdrawnRow | undefined> {
  const [row] = await transaction.query<WithdrawnRow>(WITHDRAW, [
    chainId,
    hexToBytes(address),
    reason,
    runtimeCodeHash ?? null,
    matchId ?? null,
    readAtBlock ?? null,
  ]);
  return row;
}

/**
 * Withdraws a match within a transaction.
 * @returns undefined if it is not the expected match, or there is none
 */
export async function withdrawWithCounts(
  transaction: Queryable,
  withdrawal: Withdrawal,
): Promise<WithdrawnRow | undefined> {
  const row = await withdrawRow(transaction, withdrawal);
  if (row === undefined) return undefined;
  const { chainId } = withdrawal;
  await addToCounts(transaction, [{ chainId, before: row.match, after: null }]);
  return row;
}

/** The match to withdraw, and the reason. */
export interface Withdrawal {
  readonly chainId: number;
  readonly address: Hex;
  readonly reason: string;
  /** SHA-256: withdraws only a match of this bytecode. */
  readonly runtimeCodeHash?: Uint8Array;
  /** Withdraws only the match with this number. */
  readonly matchId?: string;
  /** The newest block of the reading that gave the reason. */
  readonly readAtBlock?: number;
  /** Whether the sources are not shown afterwards; by default they are. */
  readonly hidesSources?: boolean;
}

const HIDE = sql(
  'hide withdrawn sources',
  'INSERT INTO hidden_sources (chain_id, address) VALUES ($1, $2) ON CONFLICT DO NOTHING',
);

/**
 * Hides the sources of a contract's withdrawn match, also of one that was withdrawn earlier. A new match of
 * the contract is shown like any other.
 */
export async function hideSources(
  database: Queryable,
  { chainId, address }: Pick<Withdrawal, 'chainId' | 'address'>,
): Promise<void> {
  await database.query(HIDE, [chainId, hexToBytes(address)]);
}

/**
 * Withdraws the match of an address, with a reason that the event log keeps. The evidence stays in the store;
 * a later verification or import may store a match again.
 * @throws FullmatchError `contract_not_found` if the address has no match, `invalid_parameter` for an empty
 * reason
 */
export async function withdrawMatch(
  database: Database,
  withdrawal: Withdrawal,
): Promise<{ match: Match; eventNumber: string }> {
  const { chainId, address, reason } = withdrawal;
  if (reason.trim() === '') {
    throw new FullmatchError(
      'invalid_parameter',
      'A withdrawal needs a reason, which the event log keeps.',
    );
  }
  const withdrawn = await database.transaction(async (transaction) => {
    const row = await withdrawWithCounts(transaction, withdrawal);
    if (row !== undefined && withdrawal.hidesSources) await hideSources(transaction, withdrawal);
    return row;
  });
  if (withdrawn === undefined) {
    throw new FullmatchError(
      'contract_not_found',
      `${checksumAddress(address)} has no match on chain ${chainId}: nothing to withdraw.`,
      { details: { chain_id: chainId, address } },
    );
  }
  await notifyOfMatches(database);
  return { match: withdrawn.match, eventNumber: withdrawn.event_id };
}
