import { type ChainList } from '../chains/list/chain-list.ts';
import { readChainList } from '../chains/registry/load-registry.ts';
import { readCurrentSnapshot } from '../chains/list/snapshots.ts';
import {
  type ListSync,
  type ListSyncParts,
  type ListSyncTimes,
  startListSync,
} from '../chains/list/start-list-sync.ts';
import { createSyncRules } from '../chains/list/sync-rules.ts';
import { type Config } from '../config/config.ts';
import { type Publisher } from './publisher.ts';
import { type Logger } from '../log.ts';
import { readStatistics } from '../repository/statistics/statistics.ts';
import { type Database } from '../store/database.ts';

/** The public list by the options, unless one that was synced is served: that one stays. */
export async function readUnsyncedList(
  database: Database,
  sources: readonly string[],
  options: Config['registry'],
): Promise<ChainList | undefined> {
  const synced = await readCurrentSnapshot(database, sources);
  return synced === undefined ? readChainList(options) : undefined;
}

/** Keeps the public list of the registry current. */
export function startRegistrySync(
  { registry: { sync } }: Config,
  parts: Pick<ListSyncParts, 'database' | 'fetch' | 'fallback' | 'served'>,
  publisher: Publisher,
  times: Partial<ListSyncTimes> | undefined,
  log: Logger,
): Promise<ListSync> {
  const readContractChainIds = async (): Promise<readonly number[]> =>
    (await readStatistics(parts.database)).chains.map(({ chainId }) => chainId);
  return startListSync(
    {
      ...parts,
      ...createSyncRules(() => publisher.inputs, readContractChainIds, sync.maxShrinkPercent),
      publish: (newer) => publisher.replace({ list: newer }),
    },
    sync.urls,
    { everyMs: sync.everySeconds * 1000, ...times },
    log,
  );
}
