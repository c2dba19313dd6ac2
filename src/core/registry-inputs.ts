import { type ChainList } from '../chains/list/chain-list.ts';
import { renderChains } from '../chains/registry/render-chains.ts';
import { type LoadedConfig } from '../config/config.ts';
import { type Logger } from '../log.ts';
import { makePublishable, type RegistryInputs } from '../publication/publication.ts';
import { type Database } from '../store/database.ts';

/** Inputs of a registry other than contracts: the list served last, and the chains whose monitor keeps up. */
export async function readRegistryInputs(
  { config, secrets }: LoadedConfig,
  database: Database,
  list: ChainList,
  log: Logger,
): Promise<RegistryInputs> {
  const { readServedList } = await import('../chains/list/start-list-sync.ts');
  const { readMonitoredChains } = await import('../monitor/monitored-chains.ts');
  const { registry: options, chains: configured, monitor } = config;
  return {
    watched: await readMonitoredChains(database, configured, monitor.stallSeconds),
    list: await readServedList(database, options.sync.urls, list, log),
    ...{ options, configured, secrets },
  };
}

/**
 * GET /chains, for the chains that have contracts and those of the inputs.
 * @throws FullmatchError `secret_in_document`
 */
export const renderChainsOf = (inputs: RegistryInputs, chainIds: readonly number[]): Buffer =>
  renderChains(makePublishable(inputs, chainIds));
