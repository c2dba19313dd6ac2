// Time of COPY for the rows that an import wrote: the reference for import benchmarks.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { type Client } from 'pg';
import { sql, type Database } from '../src/store/database.ts';
import { type Store } from '../src/store/open-store.ts';

/** Maximum number of rows copied per table; more would not change the result. */
const MAX_COPIED = 100_000;

/** Tables written by an import; contract rows are the majority. */
const WRITTEN = [
  ...['code', 'contracts', 'contract_deployments', 'sources', 'compiled_contracts'],
  ...['compiled_contracts_sources', 'verified_contracts', 'current_matches', 'match_events'],
];

/** Formats a rate or a size without a fraction. */
export const whole = (value: number): string => Math.round(value).toLocaleString('en-US');

/** Returns the milliseconds that work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Reads the rows of a table. */
export async function countOf(database: Database, table: string): Promise<number> {
  const counted = sql(`bench: count ${table}`, `SELECT count(*)::float8 AS rows FROM ${table}`);
  const [row] = await database.query<{ rows: number }>(counted);
  return row?.rows ?? 0;
}

async function readAll(client: Client, text: string): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  for await (const part of client.query(copyTo(text))) parts.push(part as Buffer);
  return parts;
}

/**
 * Returns the milliseconds of COPY for the rows that an import wrote: into bare tables, and into tables with
 * the same indexes and checks.
 */
export async function measureCopy(
  store: Store,
): Promise<{ readonly bare: number; readonly indexed: number }> {
  const total = { bare: 0, indexed: 0 };
  for (const table of WRITTEN) {
    const rows = await countOf(store.database, table);
    if (rows === 0) continue;
    await store.onClient(async (client) => {
      const columns = await client.query<{ names: string }>(
        `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS names FROM pg_attribute
         WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
        [table],
      );
      const names = columns.rows[0]?.names ?? '';
      const copied = Math.min(rows, MAX_COPIED);
      const bytes = await readAll(
        client,
        `COPY (SELECT ${names} FROM ${table} LIMIT ${copied}) TO STDOUT (FORMAT binary)`,
      );
      for (const [kind, made] of [
        ['bare', `CREATE TABLE bench_copy AS SELECT ${names} FROM ${table} WITH NO DATA`],
        ['indexed', `CREATE TABLE bench_copy (LIKE ${table} INCLUDING ALL)`],
      ] as const) {
        await client.query(made);
        const into = `COPY bench_copy (${names}) FROM STDIN (FORMAT binary)`;
        const ms = await timed(() => pipeline(Readable.from(bytes), client.query(copyFrom(into))));
        total[kind] += (ms * rows) / copied;
        await client.query('DROP TABLE bench_copy');
      }
    });
  }
  return total;
}
