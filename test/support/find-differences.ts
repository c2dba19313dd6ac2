import { tmpdir } from 'node:os';
import { Secret } from '../../src/lib/secret.ts';
import { silentLogger } from '../../src/log.ts';
import { type CountDifference, recount } from '../../src/repository/statistics/recount.ts';
import { openStore } from '../../src/store/open-store.ts';

/**
 * Runs a recount of a test database on a new connection, as `fullmatch recount` does: a long-lived connection
 * keeps plans made for nearly empty tables, which take half a minute later.
 */
export async function findDifferences(url: string): Promise<readonly CountDifference[]> {
  const store = await openStore(
    { url: new Secret(url), poolSize: 1, dataDir: tmpdir(), migrate: false },
    silentLogger,
  );
  try {
    return (await recount(store.database, { repair: false })).differences;
  } finally {
    await store.close();
  }
}
