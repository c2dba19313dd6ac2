import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { type Database, type Queryable, sql } from '../../store/database.ts';
import { SHOWN_NAME } from '../matches/contract-summary.ts';
import { type Match, type Origin } from '../matches/verified-contract.ts';

/** An entry of the event log that changed a match. */
export interface MatchEvent {
  readonly eventNumber: string;
  readonly kind: 'stored' | 'upgraded' | 'withdrawn';
  readonly chainId: number;
  readonly address: Hex;
  /** null after a withdrawal. */
  readonly match: Match | null;
  /** The contract's name; null if the evidence is unknown. */
  readonly name: string | null;
  /** Who verified the match; null after a withdrawal. */
  readonly origin: Origin | null;
  readonly at: Date;
}

/** A position in the feed. */
export interface FeedCursor {
  /** 0 before the first event. */
  readonly position: bigint;
  /** Derived from the event: if a restored database assigns the position to another event, the mark differs. */
  readonly mark: string;
}

/** A feed position with its event; corrections change no match and are not listed as events here. */
export interface FeedEntry extends FeedCursor {
  readonly event?: MatchEvent;
}

/** The newest entries of the feed. */
export interface OpenedFeed {
  readonly entries: readonly FeedEntry[];
  /** The cursor before the first of them. */
  readonly since: FeedCursor;
}

const BATCH = 1000;
/** The cursor before the first event. */
export const FEED_START: FeedCursor = { position: 0n, mark: '' };

const selectEntries = (numbered: string): string =>
  `SELECT position, event.id, kind, event.chain_id, address, match_after, ${SHOWN_NAME} AS name,
     CASE WHEN match_after IS NOT NULL THEN origin END AS origin, recorded_at
   FROM (${numbered}) AS numbered
   JOIN match_events AS event ON event.id = event_id
   LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   ORDER BY position`;
const READ_NEWEST = sql(
  'read newest of the feed',
  selectEntries('SELECT * FROM feed ORDER BY position DESC LIMIT $1'),
);
// With the limit as a parameter, PostgreSQL would plan for a tenth of the feed.
const READ_LATER = sql(
  'read on in the feed',
  selectEntries(`SELECT * FROM feed WHERE position >= $1 ORDER BY position LIMIT ${BATCH + 1}`),
);

interface EntryRow {
  position: string;
  id: string;
  kind: MatchEvent['kind'] | 'corrected';
  chain_id: string;
  address: Buffer | null;
  match_after: Match | null;
  name: string | null;
  origin: Origin | null;
  recorded_at: Date;
}

/** Reads the feed from its own position on, each entry once. */
export class FeedReader {
  readonly #database: Database;
  #place = FEED_START;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Reads the newest entries; {@link FeedReader.readLater} continues after them. */
  async open(limit: number): Promise<OpenedFeed> {
    const rows = await this.#database.query<EntryRow>(READ_NEWEST, [limit + 1]);
    const entries = rows.map(toEntry);
    const since = entries.length > limit ? entries.shift() : undefined;
    this.#place = entries.at(-1) ?? FEED_START;
    return { entries, since: since ?? FEED_START };
  }

  /**
   * Reads the next page; undefined if the feed no longer contains the reader's position, for example after a
   * restore: the reader must then be opened again.
   */
  async *readLater(): AsyncGenerator<readonly FeedEntry[] | undefined> {
    for (;;) {
      const later = await readBehind(this.#database, this.#place);
      if (later === undefined) {
        yield undefined;
        return;
      }
      const { entries } = later;
      const last = entries.at(-1);
      if (last === undefined) return;
      this.#place = last;
      yield entries;
    }
  }
}

function toEntry({ position, id, kind, chain_id, address, ...row }: EntryRow): FeedEntry {
  const place = {
    position: BigInt(position),
    mark: `${BigInt(id).toString(36)}${row.recorded_at.getTime().toString(36)}`,
  };
  if (kind === 'corrected' || address === null) return place;
  const event = {
    eventNumber: id,
    kind,
    chainId: Number(chain_id),
    address: bytesToHex(address),
    match: row.match_after,
    name: row.name,
    origin: row.origin,
    at: row.recorded_at,
  };
  return { ...place, event };
}

/** A page of the feed. */
export interface FeedPage {
  readonly events: readonly MatchEvent[];
  /** Cursor of the last entry, or the given cursor if nothing follows it. */
  readonly last: FeedCursor;
  readonly hasMore: boolean;
}

/** Reads the events after a cursor; undefined if the feed does not contain it, for example after a restore. */
export async function readFeedPage(
  database: Queryable,
  after: FeedCursor,
): Promise<FeedPage | undefined> {
  const later = await readBehind(database, after);
  if (later === undefined) return undefined;
  const { entries, hasMore } = later;
  return {
    events: entries.flatMap(({ event }) => event ?? []),
    last: entries.at(-1) ?? after,
    hasMore,
  };
}

/** The entries after a cursor, and whether more may follow; undefined if the feed does not contain the cursor. */
async function readBehind(
  database: Queryable,
  { position, mark }: FeedCursor,
): Promise<{ readonly entries: readonly FeedEntry[]; readonly hasMore: boolean } | undefined> {
  const rows = await database.query<EntryRow>(READ_LATER, [position]);
  const entries = rows.map(toEntry);
  const first = position === 0n ? FEED_START : entries.shift();
  if (first?.position !== position || first.mark !== mark) return undefined;
  return { entries, hasMore: rows.length > BATCH };
}

const READ_POSITION = sql(
  'read position of the feed',
  'SELECT coalesce(max(position), 0)::text AS position FROM feed',
);

/** Position of the newest entry of the feed; 0 before the first one. */
export async function readFeedPosition(database: Queryable): Promise<string> {
  const [row] = await database.query<{ position: string }>(READ_POSITION);
  return row?.position ?? '0';
}
