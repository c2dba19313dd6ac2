import { setImmediate as endOfPass } from 'node:timers/promises';
import { type Queryable, type Statement } from '../store/database.ts';

/** Keys of one statement: with the bounds of a row this bounds the memory. */
const MOST_KEYS = 64;

/**
 * Rows that are asked for one by one, and read together: all keys that come within one pass of the event loop, by one
 * statement that takes their array.
 */
export class GroupedReads<Row extends { readonly id: string }> {
  readonly #database: Queryable;
  readonly #statement: Statement;
  #group: { readonly keys: string[]; readonly rows: Promise<ReadonlyMap<string, Row>> } | undefined;

  constructor(database: Queryable, statement: Statement) {
    this.#database = database;
    this.#statement = statement;
  }

  /** The row of a key. @throws what the database throws, the same for all who share the statement */
  async read(id: string): Promise<Row | undefined> {
    const group = (this.#group ??= this.#open());
    group.keys.push(id);
    // Whoever comes next begins another group.
    if (group.keys.length >= MOST_KEYS) this.#group = undefined;
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
