import { type Queryable, sql } from '../store/database.ts';

const READ = sql('read import cursor', 'SELECT cursor FROM import_cursors WHERE url = $1');
const SAVE = sql(
  'save import cursor',
  `INSERT INTO import_cursors (url, cursor) VALUES ($1, $2)
   ON CONFLICT (url) DO UPDATE SET cursor = EXCLUDED.cursor, updated_at = now()`,
);

/** The cursor up to which the feed at a URL was imported; undefined if it was not. */
export async function readImportCursor(
  database: Queryable,
  url: string,
): Promise<string | undefined> {
  const [row] = await database.query<{ cursor: string }>(READ, [url]);
  return row?.cursor;
}

/** Records that everything up to the cursor is imported. */
export async function saveImportCursor(
  database: Queryable,
  url: string,
  cursor: string,
): Promise<void> {
  await database.query(SAVE, [url, cursor]);
}
