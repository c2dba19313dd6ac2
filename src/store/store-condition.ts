import { FullmatchError, messageOf } from '../errors.ts';
import { type Logger } from '../log.ts';
import {
  type Database,
  type Queryable,
  SERVING_TIME_LIMIT_MS,
  sql,
  type Statement,
} from './database.ts';
import { type FreeSpace } from './free-space.ts';
import { isDamage, isExhaustion } from './sqlstate.ts';
import { wait } from './wait.ts';

/** A problem of the database, as this process's statements met it. */
export interface StoreTrouble {
  readonly code: 'disk_full' | 'database_unavailable' | 'database_damaged';
  readonly since: Date;
  /** The first message, for the operator: it may name tables and files of the server. */
  readonly message: string;
}

/** A failed statement. It is retried to see whether the problem is gone. */
interface Symptom {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  readonly trouble: StoreTrouble;
  readonly lastSeen: number;
}

const PROBE_MS = 2_000;
/** How often every table is read while no problem is known. */
const TOUCH_EVERY_MS = 6_000;
/** A problem that has not recurred for this long counts as solved. The next statement tells. */
const FORGET_MS = 60_000;
/** Failed statements with larger parameters are not kept for a retry, but dropped after a while. */
const LARGEST_KEPT_BYTES = 65_536;
const MAX_SYMPTOMS = 50;

const LIST_TABLES = sql(
  'list tables',
  `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
   WHERE schemaname = current_schema() ORDER BY tablename`,
);

/**
 * Condition of the database as far as statements show it. A failure for lack of space or by damage is
 * remembered by its statement until that statement succeeds, a dry run of it succeeds, or a minute has passed
 * without the failure.
 */
export class StoreCondition {
  readonly #symptoms = new Map<string, Symptom>();

  /** All current problems, each kind once, with the time since when. */
  get troubles(): readonly StoreTrouble[] {
    const first = new Map<StoreTrouble['code'], StoreTrouble>();
    for (const { trouble } of this.#symptoms.values()) {
      const known = first.get(trouble.code);
      if (known === undefined || trouble.since < known.since) first.set(trouble.code, trouble);
    }
    return [...first.values()];
  }

  /** Records how a statement failed. */
  failed(statement: Statement, values: readonly unknown[], error: unknown): void {
    const code = troubleOf(error);
    if (code === undefined) return;
    const known = this.#symptoms.get(statement.label);
    const since = known?.trouble.code === code ? known.trouble.since : new Date();
    if (known === undefined && this.#symptoms.size >= MAX_SYMPTOMS) return;
    const trouble = { code, since, message: messageOf(error) };
    this.#symptoms.set(statement.label, { statement, values, trouble, lastSeen: Date.now() });
  }

  /** Records that a statement succeeded. */
  succeeded({ label }: Statement): void {
    if (this.#symptoms.size > 0) this.#symptoms.delete(label);
  }

  /** Retries statements that failed by damage, without effect, and drops old entries. */
  async probe(database: Database): Promise<void> {
    for (const symptom of [...this.#symptoms.values()]) {
      const { statement, values, trouble, lastSeen } = symptom;
      const repeatable = trouble.code === 'database_damaged' && isSmall(values);
      if (!repeatable) {
        if (Date.now() - lastSeen > FORGET_MS) this.succeeded(statement);
        continue;
      }
      if ((await rehearse(database, symptom)) === 'sound') this.succeeded(statement);
    }
  }
}

/** Watches the condition until the signal aborts: retries failed statements and reads every table. */
export async function watchCondition(
  condition: StoreCondition,
  parts: { readonly database: Database; readonly space: FreeSpace; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const { space, log } = parts;
  const database = parts.database.limited(SERVING_TIME_LIMIT_MS);
  let touchAt = Date.now();
  let tables: ReadonlySet<string> = new Set();
  let known = '';
  while (!signal.aborted) {
    await space.refresh();
    await condition.probe(database);
    if (Date.now() >= touchAt) {
      touchAt = Date.now() + TOUCH_EVERY_MS;
      tables = await touchTables(database, tables).catch(() => tables);
    }
    const now = condition.troubles.map(({ code, message }) => `${code}: ${message}`);
    if (now.length > 0 && now.join() !== known)
      log.error({ event: 'store_troubled', troubles: now }, 'the database is in trouble');
    if (now.length === 0 && known !== '')
      log.info({ event: 'store_sound' }, 'the database is sound again');
    known = now.join();
    await wait(PROBE_MS, signal);
  }
}

/** Thrown to roll back a dry run. */
class Rehearsed extends Error {}

/** Runs a statement and rolls it back; returns whether it met damage, or nothing if the database does not respond. */
async function rehearse(
  database: Database,
  { statement, values }: Symptom,
): Promise<'sound' | 'damaged' | undefined> {
  try {
    await database.transaction(async (transaction) => {
      await transaction.query(statement, values);
      throw new Rehearsed();
    });
  } catch (error) {
    if (isDamage(error)) return 'damaged';
    if (error instanceof FullmatchError && error.code === 'database_unreachable') return undefined;
  }
  return 'sound';
}

/**
 * Reads a row of each table, so that a missing table, or one damaged at its beginning, is noticed before a
 * request meets it. The database itself records failures. Tables that other programs add are ignored.
 */
async function touchTables(
  database: Queryable,
  known: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const listed = known.size > 0 ? [] : await database.query<{ name: string }>(LIST_TABLES);
  const names = known.size > 0 ? known : new Set(listed.map(({ name }) => name));
  for (const name of names) {
    const touch = sql(`touch ${name}`, `SELECT 1 FROM ${name} LIMIT 1`);
    await database.query(touch).catch(() => undefined);
  }
  return names;
}

function troubleOf(error: unknown): StoreTrouble['code'] | undefined {
  if (isDamage(error)) return 'database_damaged';
  if (!isExhaustion(error)) return undefined;
  return (error as FullmatchError).code === 'data_directory_full'
    ? 'disk_full'
    : 'database_unavailable';
}

function isSmall(values: readonly unknown[]): boolean {
  let bytes = 0;
  for (const value of values) {
    if (Buffer.isBuffer(value)) bytes += value.byteLength;
    else if (typeof value === 'string') bytes += value.length;
    else if (Array.isArray(value)) return false;
  }
  return bytes <= LARGEST_KEPT_BYTES;
}
