import { type ChainIcons, openIcons } from '../chains/registry/chain-icons.ts';
import { readChainList } from '../chains/registry/load-registry.ts';
import { readCurrentSnapshot } from '../chains/list/snapshots.ts';
import { type LoadedConfig } from '../config/config.ts';
import { type Logger } from '../log.ts';
import { type Publication } from '../publication/publication.ts';
import { type Database } from '../store/database.ts';
import { type ChainAccess, findPrivateHosts } from './chain-access.ts';
import { serveReloadRequests } from './reload-requests.ts';
import { Reloader } from './reloader.ts';

/** Parts of a running service that apply a new configuration. */
export interface LiveParts {
  readonly started: LoadedConfig;
  readonly database: Database;
  readonly publication: Publication;
  readonly fetch: ChainAccess['fetch'];
  /** The current chain icons. */
  readonly icons: { current: ChainIcons };
  readonly log: Logger;
}

/**
 * Applies what a running service can change. Steps that can fail come first: files are read, then registry
 * and documents are replaced together; the remaining steps cannot fail.
 * @throws FullmatchError `invalid_configuration`, `invalid_chain_list`, `secret_in_document`, those of the
 * store
 */
async function applyConfiguration(
  { config, secrets }: LoadedConfig,
  { started, database, publication, fetch, icons, log }: LiveParts,
): Promise<void> {
  const fresh = await openIcons(config.registry.icons);
  // A synced list stays current.
  const synced = await readCurrentSnapshot(database, started.config.registry.sync.urls);
  await publication.replace({
    ...(synced === undefined && { list: await readChainList(config.registry) }),
    options: config.registry,
    configured: config.chains,
    secrets,
  });
  fetch.allowOnly(findPrivateHosts(started.config, publication.registry, config.chains));
  icons.current = fresh;
  log.level = config.log.level;
}

/**
 * Makes a running service reload on request: by a call, or by `fullmatch reload` over the database.
 * @param load reads the configuration from its sources again.
 */
export async function startReload(
  parts: LiveParts,
  load: () => LoadedConfig,
  now: () => Date,
): Promise<{ readonly reloader: Reloader; close(): Promise<void> }> {
  const { started, database, log } = parts;
  const apply = (next: LoadedConfig): Promise<void> => applyConfiguration(next, parts);
  const reloader = new Reloader({ started, load, apply, now }, log);
  return { reloader, ...(await serveReloadRequests(database, () => reloader.reload())) };
}
