import { FullmatchError } from '../../errors.ts';
import { printableText } from '../../lib/printable-text.ts';
import { type Database } from '../../store/database.ts';
import { readEmbeddedList, type ChainList } from './chain-list.ts';
import { listSnapshots, readSnapshotList, type StoredSnapshot } from './snapshots.ts';

/** A list that a reference means, and how it is called in a report. */
export interface FoundList {
  readonly label: string;
  readonly list: ChainList;
}

const NUMBER = /^[1-9]\d{0,15}$/;
const HASH_PREFIX = /^[0-9a-f]{6,64}$/i;

/**
 * The list that a reference means: `current` (what is served), `embedded`, the number of a snapshot, or the first six
 * or more digits of its hash.
 * @throws FullmatchError chain_list_snapshot_not_found
 */
export async function findList(
  database: Database,
  ref: string,
  readCurrent: () => Promise<ChainList>,
): Promise<FoundList> {
  const name = ref.trim().toLowerCase();
  if (name === 'embedded') return { label: name, list: await readEmbeddedList() };
  if (name === 'current') {
    const list = await readCurrent();
    return { label: `current (${list.source})`, list };
  }
  const snapshot = pickSnapshot(await listSnapshots(database), name);
  if (snapshot === undefined) {
    throw new FullmatchError(
      'chain_list_snapshot_not_found',
      `No stored chain list is called '${printableText(ref, 80)}'. Write current, embedded, a number, or six or more digits of a hash; fullmatch chains snapshots prints them.`,
      { details: { reference: printableText(ref, 80) } },
    );
  }
  return {
    label: `${snapshot.id} (${snapshot.sha256.slice(0, 12)})`,
    list: await readSnapshotList(database, snapshot),
  };
}

/** The newest snapshot of a hash: the same text may have been accepted more than once. */
function pickSnapshot(
  snapshots: readonly StoredSnapshot[],
  name: string,
): StoredSnapshot | undefined {
  const numbered = NUMBER.test(name) ? snapshots.find(({ id }) => String(id) === name) : undefined;
  if (numbered !== undefined || !HASH_PREFIX.test(name)) return numbered;
  const found = snapshots.filter(({ sha256 }) => sha256.startsWith(name));
  const isOne = new Set(found.map(({ sha256 }) => sha256)).size === 1;
  return isOne ? found.at(-1) : undefined;
}
