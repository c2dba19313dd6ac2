import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { messageOf } from '../errors.ts';
import { type Logger } from '../log.ts';
import {
  findLostEvents,
  readDatabaseIdentity,
  readFeedPosition,
  readNewestMarks,
} from '../repository/repository.ts';
import { type Database, SERVING_TIME_LIMIT_MS } from '../store/database.ts';
import { ACKNOWLEDGED_FILE } from '../store/acknowledged-events.ts';
import { makeFolder } from '../lib/writable-folder.ts';

const POLL_EVERY_MS = 1_000;

const mark = z.object({ id: z.string(), recordedAt: z.string() });
const file = z.object({
  /** Identifies the database. */
  database: z.string(),
  newest: z.array(mark).readonly(),
  /** Lost events, kept until the operator removes the file. */
  lost: z
    .object({
      since: z.string(),
      events: z.int(),
      newestEvent: z.string(),
      feedPosition: z.string(),
      feedPositionAfter: z.string(),
    })
    .exactOptional(),
});
type Remembered = z.infer<typeof file>;

/** Events that were reported as stored and are missing from the database. */
export type LostEvents = NonNullable<Remembered['lost']>;

/** Checks whether the database still has the events that this process reported as stored. */
export interface AcknowledgedWatch {
  /** The lost events; undefined if none is missing. */
  readonly lost: LostEvents | undefined;
  close(): Promise<void>;
}

/**
 * Checks every second, and therefore after each failover, whether the database has the newest events that
 * this process committed or saw, including those of its last run, which a file in the data directory keeps.
 * Missing events are reported from then on, and at every start until the operator removes the file: a lagging
 * standby was promoted, or older data was restored.
 */
export async function watchAcknowledged(
  database: Database,
  dataDir: string,
  log: Logger,
): Promise<AcknowledgedWatch> {
  const watch = new RunningWatch(database, path.join(dataDir, ACKNOWLEDGED_FILE), log);
  await watch.open();
  return watch;
}

class RunningWatch implements AcknowledgedWatch {
  readonly #database: Database;
  readonly #file: string;
  readonly #log: Logger;
  #identity: string | undefined;
  #lost: LostEvents | undefined;
  #feedPosition = '0';
  #written = '';
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> = Promise.resolve();
  #closed = false;
  #isFileBroken = false;

  constructor(database: Database, name: string, log: Logger) {
    this.#database = database;
    this.#file = name;
    this.#log = log;
  }

  get lost(): LostEvents | undefined {
    return this.#lost;
  }

  async open(): Promise<void> {
    const remembered = await this.#read();
    // Another database has its own events.
    if (remembered?.database === (await this.#identify())) {
      this.#database.acknowledged.note(remembered?.newest ?? []);
      this.#lost = remembered?.lost;
    }
    this.#poll();
    await this.#polling;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#polling;
    await this.#write();
  }

  async #identify(): Promise<string> {
    return (this.#identity ??= await readDatabaseIdentity(this.#database));
  }

  #poll(): void {
    this.#polling = this.#compare()
      .catch((error: unknown) => {
        // The database does not respond, which is reported elsewhere.
        this.#log.debug({ error: messageOf(error) }, 'acknowledged events could not be compared');
      })
      .then(() => {
        if (!this.#closed) this.#timer = setTimeout(() => this.#poll(), POLL_EVERY_MS);
      });
  }

  async #compare(): Promise<void> {
    const { acknowledged } = this.#database;
    const serving = this.#database.limited(SERVING_TIME_LIMIT_MS);
    const gone = await findLostEvents(serving, acknowledged.newest);
    const position = await readFeedPosition(serving);
    if (gone.length > 0) {
      acknowledged.forget(gone);
      this.#say(gone.length, gone.at(-1)?.id ?? '', position);
    }
    this.#feedPosition = position;
    acknowledged.note(await readNewestMarks(serving));
    await this.#write();
  }

  #say(events: number, newestEvent: string, position: string): void {
    this.#lost = {
      since: this.#lost?.since ?? new Date().toISOString(),
      events: events + (this.#lost?.events ?? 0),
      newestEvent,
      feedPosition: this.#feedPosition,
      feedPositionAfter: position,
    };
    this.#log.error(
      { event: 'database_behind', code: 'database_behind', ...this.#lost },
      `the database does not have ${events} of the newest acknowledged events: it is an older copy`,
    );
  }

  async #read(): Promise<Remembered | undefined> {
    try {
      return file.parse(JSON.parse(await readFile(this.#file, 'utf8')));
    } catch {
      // Missing or truncated.
      return undefined;
    }
  }

  async #write(): Promise<void> {
    const text = JSON.stringify({
      database: await this.#identify(),
      newest: this.#database.acknowledged.newest,
      ...(this.#lost && { lost: this.#lost }),
    } satisfies Remembered);
    if (text === this.#written) return;
    try {
      await makeFolder(path.dirname(this.#file));
      await writeFile(`${this.#file}.partial`, `${text}\n`, { mode: 0o600 });
      await rename(`${this.#file}.partial`, this.#file);
      this.#written = text;
    } catch (error) {
      // Needed only after a restart.
      if (!this.#isFileBroken)
        this.#log.warn({ error: messageOf(error), file: this.#file }, 'not written');
      this.#isFileBroken = true;
    }
  }
}
