import { setTimeout as wait } from 'node:timers/promises';
import { type Database, sql } from '../../src/store/database.ts';
import { type BootedService } from './booted-service.ts';

const LAST_POSITION = sql(
  'test last position',
  `SELECT (SELECT coalesce(max(position), 0) FROM feed) + (SELECT count(*) FROM feed_queue) AS position`,
);
const ARE_NAMES_FOLLOWED = sql(
  'test names followed',
  `SELECT position >= $1 AS are_followed FROM feed_followers WHERE name = 'names'`,
);

/** Timeout on a shared machine; it only ends hanging tests. */
const TIMEOUT_MS = 90_000;

/** Waits until the service shows everything stored so far in its statistics and searches. */
export async function followed(
  { apiUrl }: Pick<BootedService, 'apiUrl'>,
  database: Database,
): Promise<void> {
  const [last] = await database.query<{ position: string }>(LAST_POSITION);
  const position = BigInt(last?.position ?? 0);
  const reached = async (): Promise<boolean> => {
    const overview = (await (await fetch(`${apiUrl}/v1/statistics`)).json()) as {
      position?: string;
    };
    const [names] = await database.query<{ are_followed: boolean }>(ARE_NAMES_FOLLOWED, [position]);
    return BigInt(overview.position ?? -1) >= position && names?.are_followed === true;
  };
  const deadline = Date.now() + TIMEOUT_MS;
  while (!(await reached())) {
    if (Date.now() > deadline) throw new Error(`the service does not show position ${position}`);
    await wait(10);
  }
}
