import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type Match, type Origin } from './verified-contract.ts';

/** Maximum events that are read; of a contract with more, only the newest. */
const MAX_EVENTS = 100;

/** A change of a contract's match. */
export interface ContractEvent {
  readonly eventNumber: string;
  /** A correction changes the record, but not the match. */
  readonly kind: 'stored' | 'upgraded' | 'withdrawn' | 'corrected';
  /** The match after the event; null after a withdrawal, and for a correction. */
  readonly match: Match | null;
  readonly origin: Origin | null;
  readonly at: Date;
  /** Reason; present on withdrawals and corrections. */
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
 * Events of a contract's match, newest first; empty if it never had one. The event log keeps them after the
 * match is gone.
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
    MAX_EVENTS,
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
