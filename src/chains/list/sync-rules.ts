import { type NamedSecret } from '../../lib/secret.ts';
import { chosenDefaults, createRegistry, type RegistryOptions } from '../registry/load-registry.ts';
import { assertNoSecrets } from '../registry/render-chains.ts';
import { type ServiceChain } from '../registry/service-chain.ts';
import { type SyncDependencies } from './sync-list.ts';

/** What a newer list is judged by, in addition to the current list. */
export interface SyncRuleInputs {
  readonly options: RegistryOptions;
  readonly configured: ReadonlyMap<number, ServiceChain>;
  readonly secrets: readonly NamedSecret[];
}

/** The rules of a service for newer lists. `readInputs` is called each time, since a reload may change its result. */
export function createSyncRules(
  readInputs: () => SyncRuleInputs,
  readContractChainIds: () => Promise<readonly number[]>,
  maxShrinkPercent: number,
): Pick<SyncDependencies, 'readRequirements' | 'assertPublishable'> {
  return {
    readRequirements: async () => {
      const { options, configured } = readInputs();
      const defaults = chosenDefaults(options);
      return {
        contractChainIds: new Set(await readContractChainIds()),
        configuredChainIds: new Set([...configured.keys(), ...defaults.keys()]),
        maxShrinkPercent,
      };
    },
    assertPublishable: async (list) => {
      const { options, configured, secrets } = readInputs();
      const contractChainIds = await readContractChainIds();
      const registry = createRegistry({ options, list, configured, contractChainIds });
      assertNoSecrets(registry, secrets);
    },
  };
}
