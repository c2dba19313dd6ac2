import { type Client } from 'pg';
import { type BackupSchema, type BackupTable } from './backup-format.ts';

// Tables of the schema that is first on the search path.
const TABLES = `
  SELECT relname AS name, array_agg(attname::text ORDER BY attnum) AS columns
  FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> 'schema_migrations'
    AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
  GROUP BY relname ORDER BY relname`;
const REFERENCES = `
  SELECT DISTINCT own.relname AS own, other.relname AS other
  FROM pg_constraint JOIN pg_class AS own ON own.oid = conrelid JOIN pg_class AS other ON other.oid = confrelid
  WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND conrelid <> confrelid`;
const SEQUENCES = `
  SELECT sequencename AS name, coalesce(last_value, start_value)::text AS value, last_value IS NOT NULL AS "isCalled"
  FROM pg_sequences WHERE schemaname = current_schema() ORDER BY sequencename`;
const FACTS = `
  SELECT (SELECT max(number) FROM schema_migrations) AS migrations,
    (SELECT coalesce(max(id), 0)::text FROM match_events) AS "newestEvent",
    (SELECT coalesce(max(position), 0)::text FROM feed) AS "feedPosition"`;
const COUNTS = `
  SELECT chain_id::text AS chain, full_match::text AS full, partial_match::text AS partial FROM chain_counts ORDER BY chain_id`;

/** The tables of the connection's schema and their contents, in an order in which they can be loaded. */
export async function describeSchema(client: Client, name: string): Promise<BackupSchema> {
  const [facts] = await rowsOf<Pick<BackupSchema, 'migrations' | 'newestEvent' | 'feedPosition'>>(
    client,
    FACTS,
  );
  if (facts === undefined) throw new Error('no facts of the schema');
  const tables = await rowsOf<BackupTable>(client, TABLES);
  const references = await rowsOf<{ own: string; other: string }>(client, REFERENCES);
  const counts = await rowsOf<{ chain: string; full: string; partial: string }>(client, COUNTS);
  return {
    name,
    ...facts,
    tables: inOrder(tables, references),
    sequences: await rowsOf<BackupSchema['sequences'][number]>(client, SEQUENCES),
    counts: Object.fromEntries(counts.map(({ chain, full, partial }) => [chain, [full, partial]])),
  };
}

async function rowsOf<Row extends object>(client: Client, text: string): Promise<Row[]> {
  return (await client.query<Row>(text)).rows;
}

/** Sorts each table after those that it references. */
function inOrder(
  tables: readonly BackupTable[],
  references: readonly { readonly own: string; readonly other: string }[],
): BackupTable[] {
  const ordered: BackupTable[] = [];
  const place = (table: BackupTable): void => {
    if (ordered.includes(table)) return;
    for (const { own, other } of references) {
      const needed = own === table.name && tables.find(({ name }) => name === other);
      if (needed) place(needed);
    }
    ordered.push(table);
  };
  for (const table of tables) place(table);
  return ordered;
}
