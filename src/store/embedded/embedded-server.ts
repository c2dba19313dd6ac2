import { messageOf } from '../../errors.ts';
import { type Logger } from '../../log.ts';
import {
  attach,
  type Attachment,
  detach,
  type EmbeddedServerOptions,
  isUnreachable,
  socketTarget,
} from './attachment.ts';
import { type ConnectionTarget } from '../connection-target.ts';
import { findData } from './data-directory.ts';
import { findRunningServer } from './lock-file.ts';
import { wait } from '../wait.ts';

/** This process's use of the one PostgreSQL server of a data directory. */
export interface EmbeddedServer {
  readonly version: string;
  /** Whether it was already running: used by another process, or left by a killed one. */
  readonly joined: boolean;
  /** Process id of the postmaster; changes when it is restarted. */
  readonly processId: number;
  /** Its data folder. */
  readonly folder: string;
  /** Its socket folder. */
  readonly socketFolder: string;
  /** A database of this server, wherever it comes back. */
  target(database: string): ConnectionTarget;
  /**
   * Runs work that uses the server, and runs it again if the server goes away meanwhile, for example because
   * its last user ended it: the server is restarted.
   * @throws the error of `work`, also if the server takes too long to come back
   */
  useWhileUp<T>(work: () => Promise<T>): Promise<T>;
  /** Detaches from the server, and stops it if no other process uses it. */
  close(): Promise<void>;
}

/** Whether a server runs on the data directory. Creates and starts nothing. */
export async function hasRunningServer(dataDir: string): Promise<boolean> {
  const data = await findData(dataDir);
  return data !== undefined && (await findRunningServer(data)) !== undefined;
}

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 10_000;
/** A server that lives longer than this after a restart counts as healthy again. */
const SOUND_AFTER_MS = 30_000;
/** A stopping server refuses connections shortly before it closes the existing ones. */
const LAST_MOMENT_MS = 1_000;
/** How long work waits for a server that is being restarted. */
const REVIVAL_TIMEOUT_MS = 15_000;
/** The service ends within ten seconds, even while the server is being restarted. */
const CLOSE_TIMEOUT_MS = 9_000;

/**
 * Uses the one PostgreSQL server of the data directory: attaches to the running one, even if the process that
 * started it is dead, or initialises and starts it. While in use the server is watched, and restarted when it
 * dies. It ends with its last user; if that one is killed it keeps running, and the next user adopts it.
 * @throws FullmatchError `data_directory_unusable`, `data_directory_full`, `data_directory_too_new`,
 * `data_directory_too_old`, `embedded_server_unavailable`, `database_error`
 */
export async function openEmbeddedServer(
  options: EmbeddedServerOptions,
  log: Logger,
): Promise<EmbeddedServer> {
  const closing = new AbortController();
  let attachment = await attach(options, log, closing.signal);
  const joined = !attachment.started;
  let gone: Promise<void>;
  let recovery: Promise<void> = Promise.resolve();
  let delay = FIRST_DELAY_MS;
  let backSince = Date.now();

  const watch = ({ presence }: Attachment): void => {
    gone = new Promise((resolve) => {
      presence.once('end', () => {
        if (!closing.signal.aborted) recovery = recover();
        resolve();
      });
    });
  };
  const recover = async (): Promise<void> => {
    log.warn({ process_id: attachment.lock.pid }, 'PostgreSQL has stopped; restarting it');
    if (Date.now() - backSince > SOUND_AFTER_MS) delay = FIRST_DELAY_MS;
    while (!closing.signal.aborted) {
      // Restarts of a server that keeps dying are spaced further and further apart.
      await wait(delay, closing.signal);
      delay = Math.min(2 * delay, LONGEST_DELAY_MS);
      try {
        attachment = await attach(options, log, closing.signal);
        backSince = Date.now();
        log.info({ process_id: attachment.lock.pid }, 'PostgreSQL is back');
        watch(attachment);
        return;
      } catch (error) {
        if (!closing.signal.aborted)
          log.error({ error: messageOf(error) }, 'PostgreSQL does not come back');
      }
    }
  };
  watch(attachment);

  return {
    joined,
    get version() {
      return attachment.version;
    },
    get processId() {
      return attachment.lock.pid;
    },
    get folder() {
      return attachment.data.path;
    },
    get socketFolder() {
      return attachment.lock.socketFolder;
    },
    target(database) {
      const current = (): ConnectionTarget =>
        socketTarget(attachment.lock, database, options.applicationName);
      return { clientConfig: () => current().clientConfig(), describe: () => current().describe() };
    },
    async useWhileUp(work) {
      const giveUpAt = Date.now() + REVIVAL_TIMEOUT_MS;
      for (;;) {
        const goneSince = gone;
        try {
          return await work();
        } catch (error) {
          if (!isUnreachable(error) || !(await endsWithin(goneSince, LAST_MOMENT_MS))) throw error;
          const isBack = await endsWithin(recovery, giveUpAt - Date.now());
          if (!isBack || closing.signal.aborted) throw error;
        }
      }
    },
    async close() {
      closing.abort();
      const left = recovery.then(() => detach(attachment, log));
      await endsWithin(left, CLOSE_TIMEOUT_MS);
    },
  };
}

/**
 * Whether something finishes within a time.
 * @throws its error within that time
 */
async function endsWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const ended = new AbortController();
  const limit = wait(Math.max(0, limitMs), ended.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), limit]);
  } finally {
    ended.abort();
  }
}
