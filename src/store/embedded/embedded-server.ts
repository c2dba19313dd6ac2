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

/** This process's part in the one PostgreSQL server of a data directory. */
export interface EmbeddedServer {
  readonly version: string;
  /** Whether it ran already: another process uses it, or a killed one left it. */
  readonly joined: boolean;
  /** The postmaster's process id; another one after it had to be started again. */
  readonly processId: number;
  /** The folder of its data. */
  readonly folder: string;
  /** The folder of its socket. */
  readonly socketFolder: string;
  /** A database of this server, wherever it comes back. */
  target(database: string): ConnectionTarget;
  /**
   * Does something with the server, and does it again where the server goes away meanwhile, as one does that ends with
   * a user before this one: it is brought back.
   * @throws what `work` throws, also where the server takes too long to come back
   */
  useWhileUp<T>(work: () => Promise<T>): Promise<T>;
  /** Leaves the server, and stops it when no other process uses it. */
  close(): Promise<void>;
}

/** Whether a server runs on the data directory. Nothing is made and nothing is started. */
export async function hasRunningServer(dataDir: string): Promise<boolean> {
  const data = await findData(dataDir);
  return data !== undefined && (await findRunningServer(data)) !== undefined;
}

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 10_000;
/** A server that lives longer than this after it came back is sound again. */
const SOUND_AFTER_MS = 30_000;
/** A server that goes away refuses connections a moment before it ends those that it has. */
const LAST_MOMENT_MS = 1_000;
/** How long work waits for a server that is being brought back. */
const REVIVAL_TIMEOUT_MS = 15_000;
/** The service ends within ten seconds, even while the server is being brought back. */
const CLOSE_TIMEOUT_MS = 9_000;

/**
 * Uses the one PostgreSQL server of the data directory: joins the running one, also when the process that started it is
 * dead, or initialises and starts it. While in use the server is watched, and started again when it dies. It ends with
 * its last user; where that one is killed it keeps running, and the next user adopts it.
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
      // A server that dies again and again is not started without ever longer pauses.
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

/** Whether something ends within a time. @throws what it throws within that time */
async function endsWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const ended = new AbortController();
  const limit = wait(Math.max(0, limitMs), ended.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), limit]);
  } finally {
    ended.abort();
  }
}
