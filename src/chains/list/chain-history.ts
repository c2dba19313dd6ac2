import { type Database } from '../../store/database.ts';
import { type ListRecord } from '../registry/list-record.ts';
import { compareRecords, type FieldChange } from './compare-lists.ts';
import { listSnapshots, readSnapshotList, type StoredSnapshot } from './snapshots.ts';

/** What one snapshot changed of a chain. */
export interface HistoryEntry {
  readonly snapshot: StoredSnapshot;
  /** `listed` in the first snapshot that has it, or again after it was gone. */
  readonly kind: 'listed' | 'changed' | 'removed';
  /** The name that the list gives, or gave last. */
  readonly name: string;
  /** Empty but for `changed`. */
  readonly fields: readonly FieldChange[];
}

/** How a chain's record changed over the snapshots that are kept, oldest first. A snapshot that changed nothing has no entry. */
export async function readChainHistory(
  database: Database,
  chainId: number,
): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  let before: ListRecord | undefined;
  for (const snapshot of await listSnapshots(database)) {
    const { records } = await readSnapshotList(database, snapshot);
    const after = records.find((record) => record.chainId === chainId);
    const entry = describeChange(snapshot, before, after);
    if (entry !== undefined) entries.push(entry);
    before = after;
  }
  return entries;
}

function describeChange(
  snapshot: StoredSnapshot,
  before: ListRecord | undefined,
  after: ListRecord | undefined,
): HistoryEntry | undefined {
  if (after === undefined) {
    return before && { snapshot, kind: 'removed', name: before.name, fields: [] };
  }
  if (before === undefined) return { snapshot, kind: 'listed', name: after.name, fields: [] };
  const fields = compareRecords(before, after);
  if (fields.length === 0) return undefined;
  return { snapshot, kind: 'changed', name: after.name, fields };
}
