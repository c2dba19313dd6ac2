import { type Api, type Loaded } from '../api.ts';
import { type RegistryOverview, type StatisticsOverview } from '../answers.ts';
import { type ChainIndex, indexChains, joinChains } from './filter-chains.ts';

/** All chains, and the time of their counts; without counts the chains are still listed. */
export interface ReadChains {
  readonly index: Loaded<ChainIndex>;
  readonly counts: Loaded<{ readonly asOf: string }>;
}

/** Reads all chains with their counts. */
export async function readChains(api: Api): Promise<ReadChains> {
  const [registry, statistics] = await Promise.all([
    api.get<RegistryOverview>('v1/registry'),
    api.get<StatisticsOverview>('v1/statistics'),
  ]);
  const known = statistics.state === 'ready' ? statistics.value : undefined;
  return {
    index:
      registry.state === 'failed'
        ? registry
        : { ...registry, value: indexOnce(registry.value.chains, known?.chains) },
    counts:
      statistics.state === 'failed'
        ? statistics
        : { ...statistics, value: { asOf: statistics.value.asOf } },
  };
}

type Counts = StatisticsOverview['chains'] | undefined;
const made = new WeakMap<RegistryOverview['chains'], { counts: Counts; index: ChainIndex }>();

/** Index of the chains, rebuilt when chains or counts change. */
function indexOnce(chains: RegistryOverview['chains'], counts: Counts): ChainIndex {
  const known = made.get(chains);
  if (known !== undefined && known.counts === counts) return known.index;
  const index = indexChains(joinChains(chains, counts));
  made.set(chains, { counts, index });
  return index;
}
