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
