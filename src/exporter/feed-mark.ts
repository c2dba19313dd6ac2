import { FullmatchError } from '../errors.ts';
import { type Queryable, sql } from '../store/database.ts';

const READ_MARK = sql(
  'read mark of the feed',
  `SELECT encode(sha256(convert_to(concat_ws(' ', extract(epoch FROM recorded_at), chain_id, address), 'UTF8')), 'hex')
     AS mark
   FROM feed JOIN match_events ON match_events.id = event_id WHERE position = $1::bigint`,
);

/**
 * Hash of the feed at a position. It differs in another database, or in one that is behind; null if the feed
 * has no event there.
 */
export async function readFeedMark(reader: Queryable, position: string): Promise<string | null> {
  const [row] = await reader.query<{ mark: string }>(READ_MARK, [position]);
  return row?.mark ?? null;
}

/**
 * Checks that an earlier export is from the feed of this database.
 * @throws FullmatchError `export_of_another_database`
 */
export async function requireSameFeed(
  reader: Queryable,
  { feedPosition, feedMark }: { readonly feedPosition: string; readonly feedMark: string | null },
): Promise<void> {
  if ((await readFeedMark(reader, feedPosition)) === feedMark) return;
  throw new FullmatchError(
    'export_of_another_database',
    `the export there shows position ${feedPosition} of a feed that this database does not have; it is from another database, or this one is older. Use another folder, or rewrite everything with --whole`,
    { details: { feedPosition } },
  );
}
