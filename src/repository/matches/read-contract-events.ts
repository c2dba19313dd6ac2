import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type Match, type Origin } from './verified-contract.ts';

/** Of a contract with more events only the newest are read. */
const MOST_EVENTS = 100;

/** What happened to the match of a contract. */
export interface ContractEvent {
  readonly eventNumber: string;
  /** A correction changes no match: it says how the record changed. */
  readonly kind: 'stored' | 'upgraded' | 'withdrawn' | 'corrected';
  /** The match after it; null after a withdrawal, and of a correction. */
  readonly match: Match | null;
  readonly origin: Origin | null;
  readonly at: Date;
  /** Why; present on withdrawals and corrections. */
  readonly reason?: string;
}

const READ_EVENTS = sql(
  'read events of a contract',
  `SELECT id, kind, match_after, origin, recorded_at, reason FROM match_events
   WHERE chain_id = $1 AND address = $2 ORDER BY id DESC LIMIT $3`,
);

interface EventRow {
  id: string;
  kind: ContractEvent['kind'];
  match_after: Match | null;
  origin: Origin | null;
  recorded_at: Date;
  reason: string | null;
}

/**
 * What happened to the match of a contract, newest first; nothing where it never had one. The event log keeps it when
 * the match is gone.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function readContractEvents(
  database: Queryable,
  chainId: number,
  address: Hex,
): Promise<readonly ContractEvent[]> {
  const rows = await database.query<EventRow>(READ_EVENTS, [
    chainId,
    hexToBytes(address),
    MOST_EVENTS,
  ]);
  return rows.map(({ id, kind, match_after: match, origin, recorded_at: at, reason }) => ({
    eventNumber: id,
    kind,
    match,
    origin,
    at,
    ...(reason !== null && { reason }),
  }));
}
