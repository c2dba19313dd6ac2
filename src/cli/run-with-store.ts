import { openStore, type Store } from '../store/open-store.ts';
import { type CliContext } from './cli-context.ts';
import { loadCommandConfig, type ParsedOptions } from './config-options.ts';
import { createCommandLog } from './terminal-log.ts';

/**
 * Runs `work` with the database of a command's configuration, without migrating it.
 * @throws FullmatchError as loadConfig and openStore
 */
export async function runWithStore<T>(
  options: ParsedOptions,
  context: CliContext,
  command: string,
  work: (store: Store) => Promise<T>,
  { mayCreate = false }: { readonly mayCreate?: boolean } = {},
): Promise<T> {
  const loaded = loadCommandConfig(options, context);
  const { database, dataDir } = loaded.config;
  const store = await openStore(
    {
      ...database,
      ...{ dataDir, applicationName: `fullmatch ${command}`, migrate: false },
      mustExist: !mayCreate,
    },
    createCommandLog(loaded, context),
  );
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
