import { type Logger } from '../../log.ts';
import { messageOf } from '../../errors.ts';
import { sql, type Database } from '../../store/database.ts';
import { chargeUsageCte } from './client-usage.ts';
import { notifyOfWork } from './job-notifications.ts';

/** Progress of a compiler download. */
export interface CompilerDownload {
  /** `0.8.20+commit.a1b79de6` */
  readonly longVersion: string;
  readonly receivedBytes: number;
  readonly totalBytes?: number;
}

/** A compiler that is being downloaded. */
export interface AwaitedCompiler {
  readonly longVersion: string;
  readonly progress: () => CompilerDownload;
  /** Resolves when the download has ended, successfully or not. */
  readonly ended: Promise<void>;
}

/** Interrupts a job whose compiler is being downloaded; the worker takes other jobs until the download ends. */
export class CompilerDownloadPending extends Error {
  override readonly name = 'CompilerDownloadPending';
  readonly awaited: AwaitedCompiler;

  constructor(awaited: AwaitedCompiler) {
    super(`Compiler ${awaited.longVersion} is being downloaded`);
    this.awaited = awaited;
  }
}

/** Limit on the waits of a job. After that its worker waits for the compiler itself, so that every job ends. */
export const MAX_COMPILER_WAITS = 3;
/** How long a wait holds without an update from the downloading process, which may have died. */
const SPOKEN_FOR_MS = 15_000;
const PROGRESS_MS = 700;

/** SQL condition for a job that does not wait for a download. */
export const IS_NOT_AWAITING_COMPILER = `(awaited_until IS NULL OR awaited_until < now())`;

/** SQL assignments that clear the wait of a job when it is claimed. */
export const CLEAR_COMPILER_WAIT = `awaited_compiler = NULL, awaited_until = NULL, awaited_bytes = NULL,
  awaited_total_bytes = NULL`;

const IS_CLAIMED = 'id = $1 AND lease_token = $2';
const PARK = sql(
  'park job until its compiler is here',
  `WITH ${chargeUsageCte(IS_CLAIMED)}
   UPDATE verification_jobs SET state = 'queued', lease_token = NULL, lease_until = NULL,
     attempts = attempts - 1, compiler_waits = compiler_waits + 1,
     awaited_compiler = $3, awaited_until = now() + $4 * interval '1 millisecond',
     awaited_bytes = $5, awaited_total_bytes = $6
   WHERE ${IS_CLAIMED} AND NOT cancel_requested RETURNING id`,
);
const REPORT = sql(
  'report how far the download of a compiler has come',
  `UPDATE verification_jobs SET awaited_until = now() + $2 * interval '1 millisecond', awaited_bytes = $3,
     awaited_total_bytes = $4
   WHERE awaited_compiler = $1 AND state = 'queued'`,
);
const WAKE = sql(
  'wake jobs whose compiler is here',
  `UPDATE verification_jobs SET ${CLEAR_COMPILER_WAIT} WHERE awaited_compiler = $1 RETURNING id`,
);

/** Keeps jobs in the queue while their compilers are downloaded by this process. */
export interface CompilerWaits {
  /** Puts a claimed job back until the download ends. */
  park(
    job: { readonly id: string; readonly token: string },
    awaited: AwaitedCompiler,
  ): Promise<void>;
  /** Releases the waiting jobs to other processes. */
  close(): Promise<void>;
}

/** Creates the waits, with one download follower per version. */
export function followDownloads(database: Database, log: Logger): CompilerWaits {
  const followed = new Map<string, { readonly stop: () => void; readonly ended: Promise<void> }>();
  const wake = async (longVersion: string): Promise<void> => {
    const woken = await database.query(WAKE, [longVersion]);
    if (woken.length > 0) await notifyOfWork(database);
  };
  const follow = ({ longVersion, progress, ended }: AwaitedCompiler): void => {
    if (followed.has(longVersion)) return;
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    const timer = setInterval(() => {
      const { receivedBytes, totalBytes = null } = progress();
      void database
        .query(REPORT, [longVersion, SPOKEN_FOR_MS, receivedBytes, totalBytes])
        // Without updates from this process, the waits expire and the jobs are taken again.
        .catch(() => undefined);
    }, PROGRESS_MS);
    const over = Promise.race([ended, stopped]).then(async () => {
      clearInterval(timer);
      followed.delete(longVersion);
      await wake(longVersion).catch((error: unknown) =>
        log.warn({ event: 'wake_failed', error: messageOf(error) }, 'jobs wait for their compiler'),
      );
    });
    followed.set(longVersion, { stop, ended: over });
  };
  return {
    park: async (job, awaited) => {
      const { receivedBytes, totalBytes = null } = awaited.progress();
      const { longVersion } = awaited;
      const facts = [longVersion, SPOKEN_FOR_MS, receivedBytes, totalBytes];
      await database.query(PARK, [job.id, job.token, ...facts]);
      // Called after the job is parked: if an earlier follower ended in the meantime and missed the job, a
      // new one is started.
      follow(awaited);
    },
    close: async () => {
      const all = [...followed.values()];
      for (const { stop } of all) stop();
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}
