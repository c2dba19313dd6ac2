import { bytesToHex, type Hex } from '../lib/hex.ts';
import { sql, type Database } from '../store/database.ts';
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

const READ_NEWEST = sql(
  'read newest events',
  `SELECT match_events.id, kind, match_events.chain_id, address, match_after, name, recorded_at
   FROM (SELECT * FROM match_events ORDER BY id DESC LIMIT $1) AS match_events
   LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   ORDER BY match_events.id`,
);
const READ_LATER = sql(
  'read later events',
  `SELECT match_events.id, kind, match_events.chain_id, address, match_after, name, recorded_at
   FROM (
     SELECT * FROM match_events WHERE id > $1 AND id <> ALL ($2::bigint[]) ORDER BY id LIMIT $3
   ) AS match_events
   LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   ORDER BY match_events.id`,
);
const READ_SNAPSHOT = sql(
  'read snapshot',
  `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest, pg_snapshot_xmax(pg_current_snapshot())::text AS next`,
);

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
/** So many events beyond a gap are remembered; then what is in the gap is given up. */
const REMEMBERED = 10_000;

/**
 * Reads the event log as it grows, each event once, in the order in which they become visible.
 *
 * Numbers are given before the commit, so a lower number may appear after a higher one. The reader remembers what it
 * has seen beyond the first gap, and closes a gap when every transaction that was open at its discovery has ended.
 */
export class MatchFeed {
  readonly #database: Database;
  /** Every event up to this one has been seen, or will never be. */
  #floor = 0n;
  readonly #seen = new Set<bigint>();
  #gap: { readonly upTo: bigint; readonly until: bigint } | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The newest events of now, oldest first; {@link MatchFeed.readLater} goes on from there. */
  async open(limit: number): Promise<readonly MatchEvent[]> {
    const rows = await this.#database.query<EventRow>(READ_NEWEST, [Math.max(limit, BATCH)]);
    this.#floor = BigInt(rows[0]?.id ?? 1) - 1n;
    await this.#remember(rows);
    return rows.flatMap(toEvent).slice(-limit);
  }

  /**
   * The events that have become visible since, and whether anything was written at all: a correction changes no match
   * and is no event here.
   */
  async readLater(): Promise<{ readonly events: readonly MatchEvent[]; readonly any: boolean }> {
    const events: MatchEvent[] = [];
    let any = false;
    for (;;) {
      const rows = await this.#database.query<EventRow>(READ_LATER, [
        String(this.#floor),
        [...this.#seen].map(String),
        BATCH,
      ]);
      any ||= rows.length > 0;
      events.push(...rows.flatMap(toEvent));
      if (rows.length > 0 || this.#gap !== undefined) await this.#remember(rows);
      if (rows.length < BATCH) return { events, any };
    }
  }

  async #remember(rows: readonly EventRow[]): Promise<void> {
    for (const { id } of rows) this.#seen.add(BigInt(id));
    this.#passSeen();
    // What was missing has come: the next gap, if there is one, is another.
    if (this.#gap !== undefined && this.#gap.upTo <= this.#floor) this.#forgetGap();
    if (this.#seen.size === 0) return;
    const [snapshot] = await this.#database.query<{ oldest: string; next: string }>(READ_SNAPSHOT);
    if (snapshot === undefined) return;
    let highest = this.#floor;
    for (const id of this.#seen) if (id > highest) highest = id;
    if (this.#gap === undefined) {
      this.#gap = { upTo: highest, until: BigInt(snapshot.next) };
    } else if (this.#seen.size > REMEMBERED) this.#closeGap(highest);
    else if (BigInt(snapshot.oldest) >= this.#gap.until && this.#confirmed) {
      this.#closeGap(this.#gap.upTo);
    } else this.#confirmed = BigInt(snapshot.oldest) >= this.#gap.until;
  }

  /** Whether the transactions of the gap had ended before the last reading: what they wrote has been read. */
  #confirmed = false;

  #forgetGap(): void {
    this.#gap = undefined;
    this.#confirmed = false;
  }

  #closeGap(upTo: bigint): void {
    this.#floor = upTo;
    this.#forgetGap();
    for (const id of this.#seen) if (id <= upTo) this.#seen.delete(id);
    this.#passSeen();
  }

  #passSeen(): void {
    while (this.#seen.delete(this.#floor + 1n)) this.#floor += 1n;
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
