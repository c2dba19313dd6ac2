import { type Database } from '../../src/store/database.ts';

/** A gate that a test opens. */
export class Gate {
  readonly opened: Promise<void>;
  #open: () => void = () => undefined;

  constructor() {
    this.opened = new Promise((resolve) => (this.#open = resolve));
  }

  open(): void {
    this.#open();
  }
}

/** A database that holds one statement. */
export interface HeldDatabase {
  readonly database: Database;
  /** Resolves when the statement has run and its caller waits. */
  readonly held: Promise<void>;
  /** Releases the rows to the caller. */
  readonly release: () => void;
}

/** Wraps the database so that the statement with this label does not return until the test releases it. */
export function holdAfter(database: Database, label: string): HeldDatabase {
  const reached = new Gate();
  const gate = new Gate();
  const query: Database['query'] = async <Row extends object>(
    ...[statement, values]: Parameters<Database['query']>
  ): Promise<Row[]> => {
    const rows = await database.query<Row>(statement, values);
    if (statement.label === label) {
      reached.open();
      await gate.opened;
    }
    return rows;
  };
  const held = new Proxy(database, {
    get: (target, name) => {
      if (name === 'query') return query;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { database: held, held: reached.opened, release: () => gate.open() };
}

/** A database without tables that holds one statement. */
export interface StubbedDatabase {
  readonly query: (statement: { readonly label: string }) => Promise<readonly object[]>;
  /** Labels of the executed statements. */
  readonly ran: readonly string[];
  /** Closes its user while the statement is held, then releases the statement. */
  readonly closeWhileHeld: (close: () => Promise<void>) => Promise<void>;
}

/** @param rowsOf returns each statement's rows by its label */
export function stubDatabase(
  heldLabel: string,
  rowsOf: (label: string) => readonly object[],
): StubbedDatabase {
  const reached = new Gate();
  const gate = new Gate();
  const ran: string[] = [];
  return {
    ran,
    query: async ({ label }) => {
      ran.push(label);
      if (label === heldLabel) {
        reached.open();
        await gate.opened;
      }
      return rowsOf(label);
    },
    closeWhileHeld: async (close) => {
      await reached.opened;
      const closing = close();
      gate.open();
      await closing;
    },
  };
}
