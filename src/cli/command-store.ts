import { type Config } from '../config/config.ts';
import { type Logger } from '../log.ts';
import { openStore, type Store } from '../store/open-store.ts';

/**
 * Runs `work` on the configured database, and closes it whatever happens. Beside a running service this joins the
 * service's embedded server.
 * @throws FullmatchError as openStore does
 */
export async function withStore<T>(
  { database, dataDir }: Config,
  command: string,
  log: Logger,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const { url, binaries, poolSize, minFreeBytes } = database;
  const store = await openStore(
    {
      ...(url === undefined ? {} : { url }),
      ...(binaries === undefined ? {} : { binaries }),
      poolSize,
      minFreeBytes,
      dataDir,
      applicationName: `fullmatch ${command}`,
    },
    log,
  );
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
