import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { FullmatchError } from '../../errors.ts';
import { lockUntilCommit } from '../../store/advisory-locks.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { parseChainList, type ChainList } from './chain-list.ts';
import { readListRecord, type ListRecord } from '../registry/list-record.ts';
import { holdRecords } from './hold-records.ts';

/** A chain list that was accepted from a source, without its text. */
export interface StoredSnapshot {
  readonly id: number;
  /** SHA-256 of the text as received, lower-case hex. */
  readonly sha256: string;
  /** A URL or the path of a file. */
  readonly source: string;
  /** Ascending ids of chains whose changes are held back: their previous records stay in effect. */
  readonly heldBack: readonly number[];
}

/** Number of lists kept: a hostile source must not fill the disk. */
const MAX_SNAPSHOTS = 1000;

const COLUMNS = `id, encode(sha256, 'hex') AS sha256, source, ARRAY(
  SELECT chain_id FROM chain_list_held_records WHERE snapshot_id = chain_list_snapshots.id ORDER BY chain_id
) AS held_back`;

/** The newest snapshot of the given sources is the one that is served. */
export const CURRENT_SNAPSHOT = `SELECT ${COLUMNS} FROM chain_list_snapshots WHERE source = ANY ($1) ORDER BY id DESC LIMIT 1`;

const READ_CURRENT = sql('read current chain list snapshot', CURRENT_SNAPSHOT);
const READ_RECENT_SIZES = sql(
  'read sizes of recent chain lists',
  `SELECT chains FROM chain_list_snapshots
   WHERE source = ANY ($1) AND accepted_at > now() - interval '30 days' ORDER BY id`,
);
const READ_TEXT = sql(
  'read chain list text',
  'SELECT gzip FROM chain_list_texts WHERE sha256 = $1',
);
const READ_HELD = sql(
  'read held records of chain list',
  'SELECT record FROM chain_list_held_records WHERE snapshot_id = $1 ORDER BY chain_id',
);
const STORE_TEXT = sql(
  'store chain list text',
  'INSERT INTO chain_list_texts (sha256, gzip) VALUES ($1, $2) ON CONFLICT DO NOTHING',
);
const STORE_SNAPSHOT = sql(
  'store chain list snapshot',
  `INSERT INTO chain_list_snapshots (sha256, source, chains) VALUES ($1, $2, $3) RETURNING id`,
);
const STORE_HELD = sql(
  'store held records of chain list',
  `INSERT INTO chain_list_held_records (snapshot_id, chain_id, record)
   SELECT $1, held.chain_id, held.record FROM unnest($2::bigint[], $3::json[]) AS held (chain_id, record)`,
);
// The sizes of the last 30 days are compared with the next list; the newest snapshot of a source is served.
const FORGET_SNAPSHOTS = sql(
  'forget old chain list snapshots',
  `DELETE FROM chain_list_snapshots AS old
   WHERE (id <= $1 OR accepted_at < now() - interval '30 days')
     AND EXISTS (SELECT FROM chain_list_snapshots AS newer WHERE newer.source = old.source AND newer.id > old.id)`,
);
const FORGET_TEXTS = sql(
  'forget old chain list texts',
  `DELETE FROM chain_list_texts AS texts
   WHERE NOT EXISTS (SELECT FROM chain_list_snapshots WHERE sha256 = texts.sha256)
     AND NOT EXISTS (SELECT FROM chain_list_sources WHERE sha256 = texts.sha256)`,
);

interface SnapshotRow {
  readonly id: string;
  readonly sha256: string;
  readonly source: string;
  readonly held_back: readonly string[];
}

/** The snapshot that a service with these sources serves; undefined before the first one. */
export async function readCurrentSnapshot(
  database: Queryable,
  sources: readonly string[],
): Promise<StoredSnapshot | undefined> {
  const [row] = await database.query<SnapshotRow>(READ_CURRENT, [sources]);
  if (row === undefined) return undefined;
  const { id, held_back: heldBack, ...snapshot } = row;
  return { ...snapshot, id: Number(id), heldBack: heldBack.map(Number) };
}

/** Number of chains in the lists accepted from these sources in the last 30 days, oldest first. */
export async function readRecentSizes(
  database: Queryable,
  sources: readonly string[],
): Promise<readonly number[]> {
  const rows = await database.query<{ chains: number }>(READ_RECENT_SIZES, [sources]);
  return rows.map(({ chains }) => chains);
}

/** Text of an accepted list by its hash; undefined if it is no longer kept. */
export async function readListText(
  database: Queryable,
  sha256: string,
): Promise<string | undefined> {
  const [row] = await database.query<{ gzip: Buffer }>(READ_TEXT, [Buffer.from(sha256, 'hex')]);
  return row === undefined ? undefined : (await promisify(gunzip)(row.gzip)).toString('utf8');
}

/**
 * The list of a snapshot as it is served.
 * @throws FullmatchError invalid_chain_list
 */
export async function readSnapshotList(
  database: Queryable,
  { id, sha256, source }: Pick<StoredSnapshot, 'id' | 'sha256' | 'source'>,
): Promise<ChainList> {
  const text = await readListText(database, sha256);
  if (text === undefined) {
    throw new FullmatchError('invalid_chain_list', `The chain list ${sha256} is no longer stored.`);
  }
  const held = await database.query<{ record: unknown }>(READ_HELD, [id]);
  const inForce = held.map(({ record }) => readListRecord(record));
  const list = holdRecords(parseChainList(text, source), inForce);
  return { ...list, snapshotId: id };
}

/** A list to accept, which was judged against the snapshot `judgedAgainst`. */
export interface AcceptedList {
  readonly text: string;
  readonly list: ChainList;
  /** Current records that replace the list's own. */
  readonly inForce: readonly ListRecord[];
  readonly sources: readonly string[];
  readonly judgedAgainst: StoredSnapshot | undefined;
}

/**
 * Stores a list as the newest snapshot, which every process then serves. Returns undefined and stores nothing
 * if another process accepted one meanwhile: the list must then be judged again.
 */
export async function acceptSnapshot(
  database: Database,
  { text, list, inForce, sources, judgedAgainst }: AcceptedList,
): Promise<StoredSnapshot | undefined> {
  const compressed = await promisify(gzip)(text);
  const sha256 = Buffer.from(list.sha256, 'hex');
  return database.transaction(async (transaction) => {
    await lockUntilCommit(transaction, 'chainList');
    const current = await readCurrentSnapshot(transaction, sources);
    if (current?.id !== judgedAgainst?.id) return undefined;
    await transaction.query(STORE_TEXT, [sha256, compressed]);
    const stored = [sha256, list.source, list.records.length];
    const [row] = await transaction.query<{ id: string }>(STORE_SNAPSHOT, stored);
    if (row === undefined) return undefined;
    await transaction.query(STORE_HELD, [
      row.id,
      inForce.map(({ chainId }) => chainId),
      inForce.map((record) => JSON.stringify(record)),
    ]);
    await transaction.query(FORGET_SNAPSHOTS, [Number(row.id) - MAX_SNAPSHOTS]);
    await transaction.query(FORGET_TEXTS);
    return readCurrentSnapshot(transaction, sources);
  });
}
