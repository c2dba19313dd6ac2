import { type Client } from 'pg';

/**
 * State of a database without changes: its objects, as one hash, and the rows and sequence positions created
 * by the migrations.
 */
export interface PristineState {
  readonly schema: string;
  readonly rows: Readonly<Record<string, readonly object[]>>;
  readonly sequences: Readonly<
    Record<string, { readonly last: string; readonly isCalled: boolean }>
  >;
}

/** Every object that a test could have added, changed or removed. */
const SCHEMA_HASH = `
  SELECT md5(string_agg(line, E'\\n' ORDER BY line)) AS schema FROM (
    SELECT format('namespace %s', nspname) FROM pg_namespace WHERE nspname !~ '^pg_'
    UNION ALL
    SELECT format('class %s %s %s', oid::regclass, relkind, reloptions)
    FROM pg_class WHERE oid >= 16384 AND relnamespace <> 'pg_toast'::regnamespace
    UNION ALL
    SELECT format('column %s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull)
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE attrelid >= 16384 AND attnum > 0 AND relnamespace <> 'pg_toast'::regnamespace
    UNION ALL
    SELECT format('index %s %s', indexrelid::regclass, indisvalid) FROM pg_index
    WHERE indexrelid >= 16384 AND indrelid::regclass::text !~ '^pg_toast'
    UNION ALL
    SELECT format('constraint %s %s', conrelid::regclass, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE oid >= 16384
    UNION ALL
    SELECT format('trigger %s %s', tgenabled, pg_get_triggerdef(oid)) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL
    SELECT format('function %s %s', oid::regprocedure, md5(prosrc)) FROM pg_proc WHERE oid >= 16384
    UNION ALL
    SELECT format('setting %s', setconfig) FROM pg_db_role_setting
    WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
  ) AS lines (line)`;

const TABLES = `
  SELECT oid::regclass::text AS name, pg_relation_size(oid)::float8 AS bytes FROM pg_class
  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0`;
const SEQUENCES = `
  SELECT format('%I', sequencename) AS name FROM pg_sequences WHERE schemaname = 'public'`;
/** Above this many bytes a new empty file is cheaper than marking rows as deleted. */
const TRUNCATED_FROM_BYTES = 1_000_000;

/** Reads the state of a database to which {@link emptyDatabase} resets others. */
export async function readPristineState(client: Client): Promise<PristineState> {
  const rows: Record<string, readonly object[]> = {};
  for (const { name } of await namesOf(client, TABLES)) {
    const { rows: found } = await client.query<{ row: object }>(
      `SELECT to_jsonb(t) AS row FROM ${name} AS t`,
    );
    if (found.length > 0) rows[name] = found.map(({ row }) => row);
  }
  const sequences: Record<string, { last: string; isCalled: boolean }> = {};
  for (const { name } of await namesOf(client, SEQUENCES)) {
    const { rows: found } = await client.query<{ last: string; isCalled: boolean }>(
      `SELECT last_value AS last, is_called AS "isCalled" FROM ${name}`,
    );
    if (found[0] !== undefined) sequences[name] = found[0];
  }
  return { schema: await hashSchema(client), rows, sequences };
}

/**
 * Empties a database that a test has used. Creating and dropping one costs PostgreSQL a thousand files, which
 * took a tenth of the suite's CPU time.
 * @returns false for a database whose schema or settings were changed; it must be dropped
 */
export async function emptyDatabase(client: Client, pristine: PristineState): Promise<boolean> {
  if ((await hashSchema(client)) !== pristine.schema) return false;
  const tables = await namesOf(client, TABLES);
  const large = tables.filter(({ bytes = 0 }) => bytes > TRUNCATED_FROM_BYTES);
  const columns = await insertableColumns(client, Object.keys(pristine.rows));
  const small = tables.filter((table) => !large.includes(table));
  await client.query('BEGIN');
  // Without triggers: some tables reject deletes, and foreign keys would require an order.
  await client.query('SET LOCAL session_replication_role = replica');
  if (large.length > 0) {
    await client.query(`TRUNCATE ${large.map(({ name }) => name).join(', ')} CASCADE`);
  }
  const statements = [
    ...small.map(({ name }) => `DELETE FROM ${name}`),
    ...Object.entries(pristine.sequences).map(
      ([name, { last, isCalled }]) => `SELECT setval('${name}', ${last}, ${isCalled})`,
    ),
  ];
  await client.query(statements.join(';'));
  for (const [name, rows] of Object.entries(pristine.rows)) {
    const names = columns.get(name) ?? '';
    await client.query(
      `INSERT INTO ${name} (${names}) OVERRIDING SYSTEM VALUE
       SELECT ${names} FROM jsonb_populate_recordset(NULL::${name}, $1::jsonb)`,
      [JSON.stringify(rows)],
    );
  }
  await client.query('COMMIT');
  return true;
}

async function hashSchema(client: Client): Promise<string> {
  const { rows } = await client.query<{ schema: string }>(SCHEMA_HASH);
  return rows[0]?.schema ?? '';
}

async function namesOf(
  client: Client,
  query: string,
): Promise<readonly { readonly name: string; readonly bytes?: number }[]> {
  return (await client.query<{ name: string; bytes?: number }>(query)).rows;
}

/** The writable columns of tables: all except generated ones. */
async function insertableColumns(
  client: Client,
  tables: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; columns: string }>(
    `SELECT attrelid::regclass::text AS name, string_agg(format('%I', attname), ', ' ORDER BY attnum) AS columns
     FROM pg_attribute
     WHERE attrelid = ANY ($1::text[]::regclass[]) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     GROUP BY attrelid`,
    [tables],
  );
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}
