import { sql, type Queryable } from '../../src/store/database.ts';

const COLUMNS = `
  SELECT format('  %s %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
      CASE WHEN a.attgenerated = 's' THEN format(' GENERATED ALWAYS AS (%s) STORED', pg_get_expr(d.adbin, d.adrelid))
        WHEN a.attidentity <> '' THEN ' GENERATED ALWAYS AS IDENTITY'
        WHEN d.adbin IS NOT NULL THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END) AS line
  FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`;
// PostgreSQL 18 lists NOT NULL among the constraints, 15 does not; the columns contain it.
const CONSTRAINTS = `
  SELECT format('  CONSTRAINT %s %s', conname, pg_get_constraintdef(oid)) AS line FROM pg_constraint
  WHERE conrelid = $1::regclass AND contype <> 'n' ORDER BY contype, conname`;
const INDEXES = `
  SELECT indexdef || ';' AS line FROM pg_indexes i
  WHERE schemaname = 'public' AND tablename = $1::text
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conname = indexname) ORDER BY indexname`;
const TRIGGERS = `
  SELECT pg_get_triggerdef(oid) || ';' AS line FROM pg_trigger
  WHERE tgrelid = $1::regclass AND NOT tgisinternal ORDER BY tgname`;
const TABLES = `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`;
const ENUMS = `
  SELECT format('CREATE TYPE %s AS ENUM (%s);', typname,
    string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder)) AS line
  FROM pg_type JOIN pg_enum ON enumtypid = pg_type.oid GROUP BY typname ORDER BY typname`;
const FUNCTIONS = `
  SELECT pg_get_functiondef(oid) || ';' AS line FROM pg_proc
  WHERE pronamespace = 'public'::regnamespace ORDER BY proname`;
const VIEWS = `
  SELECT format(E'CREATE VIEW %s AS\\n%s', viewname, definition) AS line FROM pg_views
  WHERE schemaname = 'public' ORDER BY viewname`;

/**
 * Dumps the schema as a text whose diff shows the effect of a migration: enums, functions, tables and views
 * by name.
 */
export async function dumpSchema(database: Queryable): Promise<string> {
  const lines = async (label: string, text: string, values: unknown[] = []): Promise<string[]> => {
    const rows = await database.query<{ line: string }>(sql(`dump ${label}`, text), values);
    return rows.map(({ line }) => line);
  };
  const tables = await database.query<{ name: string }>(sql('dump tables', TABLES));
  const parts = [...(await lines('enums', ENUMS)), ...(await lines('functions', FUNCTIONS))];
  for (const { name } of tables) {
    const members = [
      ...(await lines('columns', COLUMNS, [name])),
      ...(await lines('constraints', CONSTRAINTS, [name])),
    ];
    parts.push(`CREATE TABLE ${name} (\n${members.join(',\n')}\n);`);
    parts.push(...(await lines('indexes', INDEXES, [name])));
    parts.push(...(await lines('triggers', TRIGGERS, [name])));
  }
  parts.push(...(await lines('views', VIEWS)));
  return `-- The schema that the migrations give. Made by npm run schema; a test keeps it equal.\n\n${parts.join('\n\n')}\n`;
}
