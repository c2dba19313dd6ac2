import { setImmediate as endOfPass } from 'node:timers/promises';
import { type Queryable, type Statement } from '../store/database.ts';

/** Maximum keys of one statement; with the maximum size of a row it bounds memory. */
const MAX_KEYS = 64;

/** Batches lookups of single rows: all keys requested within one pass of the event loop are read by one statement. */
export class BatchedReads<Row extends { readonly id: string }> {
  readonly #database: Queryable;
  readonly #statement: Statement;
  #group: { readonly keys: string[]; readonly rows: Promise<ReadonlyMap<string, Row>> } | undefined;

  constructor(database: Queryable, statement: Statement) {
    this.#database = database;
    this.#statement = statement;
  }

  /**
   * Returns the row of a key.
   * @throws the database error, the same for all lookups of the batch
   */
  async read(id: string): Promise<Row | undefined> {
    const group = (this.#group ??= this.#open());
    group.keys.push(id);
    // Later requests start a new batch.
    if (group.keys.length >= MAX_KEYS) this.#group = undefined;
    return (await group.rows).get(id);
  }

  #open(): { readonly keys: string[]; readonly rows: Promise<ReadonlyMap<string, Row>> } {
    const keys: string[] = [];
    const read = async (): Promise<ReadonlyMap<string, Row>> => {
      await endOfPass();
      if (this.#group?.keys === keys) this.#group = undefined;
      const rows = await this.#database.query<Row>(this.#statement, [keys]);
      return new Map(rows.map((row) => [row.id, row]));
    };
    return { keys, rows: read() };
  }
}
