import { useEffect, useState } from 'preact/hooks';
import { createApi } from '../api.ts';
import { type RegistryOverview, type StatisticsOverview } from '../shapes.ts';
import { type ChainIndex, indexChains, joinChains } from './filter-chains.ts';

/** The whole list for the browser: absent until it is read, and where it cannot be. */
export function useChainRows(base: string): {
  readonly index?: ChainIndex;
  readonly failed: boolean;
} {
  const [state, setState] = useState<{ index?: ChainIndex; failed: boolean }>({ failed: false });
  useEffect(() => {
    let unused = false;
    const read = async (): Promise<void> => {
      const api = createApi((path) => fetch(`${base}${path}`));
      const [registry, statistics] = await Promise.all([
        api.get<RegistryOverview>('v1/registry'),
        api.get<StatisticsOverview>('v1/statistics'),
      ]);
      if (unused) return;
      if (registry.state === 'failed') setState({ failed: true });
      else {
        const counts = statistics.state === 'ready' ? statistics.value.chains : [];
        setState({ index: indexChains(joinChains(registry.value.chains, counts)), failed: false });
      }
    };
    void read();
    return () => {
      unused = true;
    };
  }, [base]);
  return state;
}
