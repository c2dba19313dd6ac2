// Exports the published tree and both documents from one snapshot, for other web servers and for imports.
import { checksumAddress, type Hex, bytesToHex } from '../lib/hex.ts';
import {
  FILE_SECTIONS,
  filesOf,
  filesOfV2,
  parseSections,
  readFeedPosition,
  readRecord,
  readStatistics,
  renderStatistics,
  type Match,
} from '../repository/repository.ts';
import { type Queryable, sql } from '../store/database.ts';
import { readFeedMark, requireSameFeed } from './feed-mark.ts';
import { type TreeTarget } from './tree-target.ts';

/** Contents of `export.json`, which describes an exported tree. */
export interface ExportFacts {
  /** Feed position of the export; the next export into the folder continues from it. */
  readonly feedPosition: string;
  /** Hash of the feed at that position. It differs in another database, or in one that is behind this export. */
  readonly feedMark: string | null;
  /** The exported chain; absent if all chains were exported. */
  readonly chainId?: number;
  /** Absent for V1. */
  readonly layout?: 'v2';
  readonly version: string;
  readonly exportedAt: string;
}

/** How the tree names sources: V1 by their paths, V2 by their Keccak-256. */
export type TreeLayout = 'v1' | 'v2';

/** Progress of an export. */
export interface ExportProgress {
  readonly done: number;
  readonly total: number;
  readonly files: number;
}

/** Counts of an export. */
export interface ExportSummary extends ExportFacts {
  /** Feed position the export continued from; absent for a full export. */
  readonly since?: string;
  readonly written: number;
  /** Contracts that are no longer verified, or whose match has no stored files. */
  readonly left: number;
  readonly files: number;
}

/** Scope and destination of a tree export. */
export interface ExportOptions {
  /** Readers that share one snapshot. */
  readonly readers: readonly Queryable[];
  readonly target: TreeTarget;
  /** GET /chains of the current registry. */
  readonly chains: (chainIds: readonly number[]) => Buffer;
  /** Exports only this chain. */
  readonly chainId?: number;
  readonly layout: TreeLayout;
  /** The earlier export in the folder. */
  readonly before?: ExportFacts;
  readonly version: string;
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ExportProgress) => void;
}

interface Place {
  readonly chain_id: string;
  readonly address: Buffer;
}

const PAGE = 1_000;
// Sorts before every chain: no chain has the id 0.
const LIST_ALL = sql(
  'list contracts to export',
  `SELECT chain_id, address FROM current_matches
   WHERE (chain_id, address) > ($1::bigint, $2::bytea) AND ($3::bigint IS NULL OR chain_id = $3::bigint)
   ORDER BY chain_id, address LIMIT ${PAGE}`,
);
const LIST_CHANGED = sql(
  'list changed contracts to export',
  `SELECT DISTINCT chain_id, address FROM feed JOIN match_events ON match_events.id = event_id
   WHERE position > $4::bigint AND (chain_id, address) > ($1::bigint, $2::bytea)
     AND ($3::bigint IS NULL OR chain_id = $3::bigint)
   ORDER BY chain_id, address LIMIT ${PAGE}`,
);
const COUNT_ALL = sql(
  'count contracts to export',
  'SELECT count(*)::int AS total FROM current_matches WHERE $1::bigint IS NULL OR chain_id = $1::bigint',
);
const COUNT_CHANGED = sql(
  'count changed contracts to export',
  `SELECT count(*)::int AS total FROM (SELECT DISTINCT chain_id, address FROM feed
   JOIN match_events ON match_events.id = event_id
   WHERE position > $2::bigint AND ($1::bigint IS NULL OR chain_id = $1::bigint)) AS changed`,
);
const FOLDERS: Readonly<Record<Match, string>> = { full: 'full_match', partial: 'partial_match' };
const json = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

/**
 * Writes the published tree and both documents from one snapshot: `contracts/…` for every
 * contract that has files, `stats.json`, `chains.json`, `manifest.json` and `export.json`. If the target
 * holds an earlier export, only contracts that changed since then, according to the feed, are written. The
 * documents are written last, so everything they count exists.
 * @throws FullmatchError `export_of_another_database`, `database_unreachable`, `database_error`; the signal's
 * reason
 */
export async function exportTree(options: ExportOptions): Promise<ExportSummary> {
  const { readers, target, chainId, before, version, now } = options;
  const [reader] = readers;
  if (reader === undefined) throw new Error('an export needs a reader');
  const feedPosition = await readFeedPosition(reader);
  if (before !== undefined) await requireSameFeed(reader, before);
  const counted = before === undefined ? COUNT_ALL : COUNT_CHANGED;
  const asked = [chainId ?? null, ...(before === undefined ? [] : [before.feedPosition])];
  const [count] = await reader.query<{ total: number }>(counted, asked);
  const done = { written: 0, left: 0, files: 0 };
  let place: Place | undefined = { chain_id: '0', address: Buffer.alloc(0) };
  while (place !== undefined) {
    const from = [place.chain_id, place.address, ...asked];
    const page: Place[] = await reader.query<Place>(before ? LIST_CHANGED : LIST_ALL, from);
    const queue = page.values();
    await Promise.all(
      readers.map(async (each) => {
        for (const next of queue) {
          options.signal.throwIfAborted();
          await exportContract(each, options, next, done);
          const { written, left, files } = done;
          options.onProgress({ done: written + left, total: count?.total ?? 0, files });
        }
      }),
    );
    place = page.length === PAGE ? page.at(-1) : undefined;
  }
  const counts = await readStatistics(reader);
  const statistics =
    chainId === undefined
      ? counts
      : { ...counts, chains: counts.chains.filter((each) => each.chainId === chainId) };
  const facts: ExportFacts = {
    ...{ feedPosition, feedMark: await readFeedMark(reader, feedPosition) },
    ...(chainId !== undefined && { chainId }),
    ...(options.layout === 'v2' && { layout: options.layout }),
    ...{ version, exportedAt: now.toISOString() },
  };
  await target.putFile(
    'chains.json',
    options.chains(statistics.chains.map(({ chainId }) => chainId)),
  );
  await target.putFile('stats.json', renderStatistics(statistics));
  const { lastModified } = statistics;
  const manifest = {
    timestamp: lastModified.getTime(),
    dateString: lastModified.toISOString(),
    version,
  };
  await target.putFile('manifest.json', json(manifest));
  await target.putFile('export.json', json(facts));
  await target.end();
  return { ...facts, ...(before && { since: before.feedPosition }), ...done };
}

async function exportContract(
  reader: Queryable,
  { target, layout, before }: ExportOptions,
  { chain_id: chainId, address: bytes }: Place,
  done: { written: number; left: number; files: number },
): Promise<void> {
  const address: Hex = bytesToHex(bytes);
  const folderOf = (match: Match): string =>
    `contracts/${FOLDERS[match]}/${chainId}/${checksumAddress(address)}`;
  const record = await readRecord(reader, Number(chainId), address, FILE_SECTIONS);
  const render = layout === 'v2' ? filesOfV2 : filesOf;
  const files = record === undefined ? [] : render(parseSections(record.sections));
  const match = record?.match.match;
  for (const other of ['full', 'partial'] as const) {
    if (before !== undefined && (files.length === 0 || other !== match))
      await target.removeContract(folderOf(other));
  }
  if (match === undefined || files.length === 0) {
    done.left += 1;
    return;
  }
  await target.putContract(folderOf(match), files);
  done.written += 1;
  done.files += files.length;
}
