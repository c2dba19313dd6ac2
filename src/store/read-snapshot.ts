import { type Client } from 'pg';
import { createTurns } from '../lib/in-turn.ts';
import { type Queryable, type Statement } from './database.ts';
import { mapDatabaseError } from './sqlstate.ts';

/**
 * Reads one snapshot of the database over several connections while others keep writing.
 * @param open opens dedicated connections without timeouts
 */
export async function readSnapshot<T>(
  clients: readonly Client[],
  work: (readers: readonly Queryable[]) => Promise<T>,
): Promise<T> {
  const [first, ...others] = clients;
  if (first === undefined) throw new Error('a snapshot needs a connection');
  const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
  await first.query(begin);
  const { rows } = await first.query<{ id: string }>('SELECT pg_export_snapshot() AS id');
  for (const other of others) {
    await other.query(begin);
    await other.query(`SET TRANSACTION SNAPSHOT '${rows[0]?.id ?? ''}'`);
  }
  const result = await work(clients.map(readerOf));
  for (const client of clients) await client.query('COMMIT');
  return result;
}

/** One connection as a database: its statements run in sequence. */
function readerOf(client: Client): Queryable {
  const inTurn = createTurns();
  return {
    query: <Row extends object>({ label, text }: Statement, values: readonly unknown[] = []) =>
      inTurn(async () => {
        try {
          return (await client.query<Row>(text, [...values])).rows;
        } catch (error) {
          throw mapDatabaseError(error, { statement: label });
        }
      }),
  };
}
