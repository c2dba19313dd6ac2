import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { sql, type Database } from '../../store/database.ts';
import { type Match } from './verified-contract.ts';

/** A line of the event log that changed a match. */
export interface MatchEvent {
  readonly eventNumber: string;
  readonly kind: 'stored' | 'upgraded' | 'withdrawn';
  readonly chainId: number;
  readonly address: Hex;
  /** null after a withdrawal. */
  readonly match: Match | null;
  /** The contract's name; null where the evidence is not known. */
  readonly name: string | null;
  readonly at: Date;
}

/** Events that have become visible, in the order of their numbers. */
export interface FeedPage {
  readonly events: readonly MatchEvent[];
  /** Whether anything was written at all: a correction changes no match and is no event here. */
  readonly any: boolean;
  /** Once these are told, every event up to this number has been, or will never be. */
  readonly settled: bigint;
}

// What a snapshot shows of the log beyond $1. The count tells whether a number is missing there.
const READ_POSITION = sql(
  'read position of event log',
  `SELECT snapshot, pg_snapshot_xmin(snapshot)::text AS oldest, pg_snapshot_xmax(snapshot)::text AS next, last, beyond
   FROM (
     SELECT pg_current_snapshot() AS snapshot, coalesce(max(id), $1) AS last, count(*) AS beyond
     FROM match_events WHERE id > $1
   ) AS position`,
);
const READ_LAST = sql('read last event', 'SELECT coalesce(max(id), 0) AS last FROM match_events');

// The transaction that wrote a row is its xmin: the lower 32 bits of a number of which a snapshot gives all 64. It is
// the transaction that snapshots speak of, since events are written outside of savepoints.
const selectEvents = (condition: string, order: string): string =>
  `WITH present AS MATERIALIZED (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next),
   event AS (
     SELECT match_events.* FROM match_events CROSS JOIN present
     CROSS JOIN LATERAL (
       SELECT (next - (next - match_events.xmin::text::bigint & 4294967295))::text::xid8 AS writer
     ) AS written
     WHERE match_events.id > $1 AND pg_visible_in_snapshot(writer, $2::pg_snapshot) ${condition}
     ORDER BY match_events.id ${order} LIMIT $3
   )
   SELECT event.id, kind, event.chain_id, address, match_after, name, recorded_at
   FROM event
   LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   ORDER BY event.id`;
const READ_NEWEST = sql('read newest events', selectEvents('', 'DESC'));
const READ_LATER = sql(
  'read later events',
  selectEvents('AND NOT pg_visible_in_snapshot(writer, $4::pg_snapshot)', ''),
);

interface PositionRow {
  snapshot: string;
  oldest: string;
  next: string;
  last: string;
  beyond: string;
}

interface EventRow {
  id: string;
  kind: MatchEvent['kind'] | 'corrected';
  chain_id: string;
  address: Buffer | null;
  match_after: Match | null;
  name: string | null;
  recorded_at: Date;
}

const BATCH = 1000;
/** No transaction that is open when a reader opens holds a number that so many others follow. */
const LOOK_BACK = 100_000n;

/** How far a reader has come. */
interface Position {
  /** What it shows has been told. */
  readonly snapshot: string;
  readonly settled: bigint;
  /** The last number of a former snapshot, and the first transaction after all that were open then. */
  readonly awaited?: { readonly last: bigint; readonly next: bigint };
}

/**
 * Reads the event log as it grows, each event once, in the order in which they become visible.
 *
 * Numbers are given before the commit, so a lower number may appear after a higher one. The reader therefore asks for
 * what lies between two snapshots; a number is settled when every transaction that may hold a lower one has ended.
 */
export class MatchFeed {
  readonly #database: Database;
  #position: Position = { snapshot: '1:1:', settled: 0n };

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The newest events of now, and the number after which all are among them; {@link MatchFeed.readLater} goes on from
   * there.
   */
  async open(limit: number): Promise<FeedPage & { readonly since: bigint }> {
    const [log] = await this.#database.query<{ last: string }>(READ_LAST);
    const first = BigInt(log?.last ?? 0) - LOOK_BACK;
    const floor = first > 0n ? first : 0n;
    const position = await this.#look({ ...this.#position, settled: floor });
    const { snapshot, settled } = position;
    const rows = await this.#database.query<EventRow>(READ_NEWEST, [floor, snapshot, limit]);
    this.#position = position;
    const oldest = rows.length < limit ? undefined : rows[0];
    return {
      events: rows.flatMap(toEvent),
      any: rows.length > 0,
      settled,
      since: oldest === undefined ? floor : BigInt(oldest.id) - 1n,
    };
  }

  /**
   * The events that have become visible since, a page at a time and at least one, which may be empty. A reading that is
   * not read to its end is told again by the next.
   */
  async *readLater(): AsyncGenerator<FeedPage> {
    const told = this.#position;
    const position = await this.#look(told);
    let after = told.settled;
    for (;;) {
      const values = [after, position.snapshot, BATCH, told.snapshot];
      const rows = await this.#database.query<EventRow>(READ_LATER, values);
      const last = rows.length < BATCH ? undefined : rows.at(-1);
      const upTo = last === undefined ? position.settled : BigInt(last.id);
      yield {
        events: rows.flatMap(toEvent),
        any: rows.length > 0,
        settled: upTo < position.settled ? upTo : position.settled,
      };
      if (last === undefined) break;
      after = upTo;
    }
    this.#position = position;
  }

  /** The position after what is visible now. */
  async #look({ settled, awaited }: Position): Promise<Position> {
    const [row] = await this.#database.query<PositionRow>(READ_POSITION, [settled]);
    if (row === undefined) throw new TypeError('an aggregate without a row');
    const { snapshot } = row;
    const [last, oldest, next] = [BigInt(row.last), BigInt(row.oldest), BigInt(row.next)];
    const isWhole = settled + BigInt(row.beyond) === last;
    if (isWhole || oldest === next) return { snapshot, settled: last };
    if (awaited === undefined) return { snapshot, settled, awaited: { last, next } };
    if (oldest < awaited.next) return { snapshot, settled, awaited };
    return { snapshot, settled: awaited.last, awaited: { last, next } };
  }
}

function toEvent({ id, kind, chain_id, address, ...row }: EventRow): MatchEvent[] {
  if (kind === 'corrected' || address === null) return [];
  return [
    {
      eventNumber: id,
      kind,
      chainId: Number(chain_id),
      address: bytesToHex(address),
      match: row.match_after,
      name: row.name,
      at: row.recorded_at,
    },
  ];
}
