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
  /** Gives the caller its rows. */
  readonly release: () => void;
}

/** The same database, where whoever runs the statement of this label waits for its rows until the test releases them. */
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
  /** The labels of the statements that ran. */
  readonly ran: readonly string[];
  /** Closes what runs on it while the statement is held, and then lets the statement go. */
  readonly closeWhileHeld: (close: () => Promise<void>) => Promise<void>;
}

/** @param rowsOf what each statement gives, by its label */
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
