import { openIcons, type ChainIcons } from '../chains/registry/chain-icons.ts';
import { type ChainList } from '../chains/list/chain-list.ts';
import { type Config, type LoadedConfig } from '../config/config.ts';
import { type Publisher } from '../publication/publisher.ts';
import { type GuardedFetch } from '../lib/guarded-fetch.ts';
import { type Logger } from '../log.ts';
import { type Database } from '../store/database.ts';
import { Reloader, type ConfigurationState, type ReloadOutcome } from './reloader.ts';
import { answerReloadRequests } from './reload-requests.ts';

/** The parts of a running service that take over a new configuration. */
interface LiveParts {
  readonly publisher: Publisher;
  readonly fetch: GuardedFetch;
  readonly log: Logger;
  /** The pictures of chains in force. */
  readonly icons: { current: ChainIcons };
  /** The public list by these options; undefined while one that was synced is served, which stays. */
  readonly readList: (options: Config['registry']) => Promise<ChainList | undefined>;
  /** The hosts that may have private addresses, from the registry in force. */
  readonly findPrivateHosts: () => readonly string[];
}

/**
 * Puts into force what a running service can take over. What can fail comes first: files are read, then registry and
 * documents are replaced together; only then the rest follows, which cannot fail.
 * @throws FullmatchError `invalid_configuration`, `invalid_chain_list`, `secret_in_document`, those of the store
 */
async function applyConfiguration(
  { config, secrets }: LoadedConfig,
  { publisher, fetch, log, icons, readList, findPrivateHosts }: LiveParts,
): Promise<void> {
  const fresh = await openIcons(config.registry.icons);
  const list = await readList(config.registry);
  await publisher.replace({
    ...(list !== undefined && { list }),
    options: config.registry,
    configured: config.chains,
    secrets,
  });
  fetch.allowOnly(findPrivateHosts());
  icons.current = fresh;
  log.level = config.log.level;
}

/** A service that can be told to read its configuration again. */
export interface Reloading {
  /** As {@link Reloader.reload}. */
  reload(): Promise<ReloadOutcome>;
  readonly state: ConfigurationState;
  close(): Promise<void>;
}

/**
 * Makes a running service reload when it is asked to: by a call, or by `fullmatch reload` over the database.
 * @param load reads the configuration from its sources again.
 */
export async function startReload(
  database: Database,
  started: LoadedConfig,
  load: () => LoadedConfig,
  parts: LiveParts,
): Promise<Reloading> {
  const apply = (next: LoadedConfig): Promise<void> => applyConfiguration(next, parts);
  const reloader = new Reloader({ started, load, apply }, parts.log);
  const reload = (): Promise<ReloadOutcome> => reloader.reload();
  const requests = await answerReloadRequests(database, reload);
  return {
    reload,
    get state() {
      return reloader.state;
    },
    close: () => requests.close(),
  };
}
