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

const LOOK_EVERY_MS = 1_000;

const mark = z.object({ id: z.string(), recordedAt: z.string() });
const file = z.object({
  /** Which database it is about. */
  database: z.string(),
  newest: z.array(mark).readonly(),
  /** What was found lost, kept until the operator removes the file. */
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

/** Events that were told to be stored, and that the database does not have. */
export type LostEvents = NonNullable<Remembered['lost']>;

/** Looks whether the database still has what this process told others is stored. */
export interface AcknowledgedWatch {
  /** What it was found not to have; undefined where it has all. */
  readonly lost: LostEvents | undefined;
  close(): Promise<void>;
}

/**
 * Looks every second, and so after each failover, whether the database has the newest events that this process committed or
 * saw, also those of its last run, which a file in the data directory keeps. What is missing is said from then on, and at
 * every start until the operator removes the file: a standby that was behind was promoted, or older data was put back.
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
  #looking: Promise<void> = Promise.resolve();
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
    // Another database has events of its own.
    if (remembered?.database === (await this.#identify())) {
      this.#database.acknowledged.note(remembered?.newest ?? []);
      this.#lost = remembered?.lost;
    }
    this.#look();
    await this.#looking;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await this.#write();
  }

  async #identify(): Promise<string> {
    return (this.#identity ??= await readDatabaseIdentity(this.#database));
  }

  #look(): void {
    this.#looking = this.#compare()
      .catch((error: unknown) => {
        // The database does not answer, which others say.
        this.#log.debug({ error: messageOf(error) }, 'acknowledged events could not be compared');
      })
      .then(() => {
        if (!this.#closed) this.#timer = setTimeout(() => this.#look(), LOOK_EVERY_MS);
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
      // None yet, or one that was cut off.
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
      // It is needed after a restart alone.
      if (!this.#isFileBroken)
        this.#log.warn({ error: messageOf(error), file: this.#file }, 'not written');
      this.#isFileBroken = true;
    }
  }
}
