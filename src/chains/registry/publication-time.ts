import { sql, type Queryable } from '../../store/database.ts';

const RECORD_DOCUMENT = sql(
  'record chain document',
  `INSERT INTO chain_documents (sha256) VALUES ($1) ON CONFLICT DO NOTHING`,
);
const READ_DOCUMENT = sql(
  'read chain document',
  `SELECT first_published_at FROM chain_documents WHERE sha256 = $1`,
);

/**
 * When a rendering of `GET /chains`, identified by its SHA-256, was first published by any process of this
 * database. It is the document's Last-Modified, so that replicas agree and a restart does not make the
 * document look new.
 */
export async function recordPublication(database: Queryable, sha256: Uint8Array): Promise<Date> {
  await database.query(RECORD_DOCUMENT, [sha256]);
  const [row] = await database.query<{ first_published_at: Date }>(READ_DOCUMENT, [sha256]);
  return row?.first_published_at ?? new Date();
}
