/**
 * Search over the whole registry, compared with a bare loop over it in the same run: `npx tsx
 * bench/chain-search.ts [list.json]`.
 */
import path from 'node:path';
import { chosenDefaults, readChainList } from '../src/chains/registry/load-registry.ts';
import { buildRegistry } from '../src/chains/registry/registry.ts';
import { searchChains, type ChainFilter } from '../src/chains/registry/search-chains.ts';
import { median } from './median.ts';

const ROUNDS = 200;

/** One line of the table. */
interface SearchBenchmarkRow {
  readonly search: string;
  readonly matching: number;
  readonly medianMs: string;
  /** Compared with reading the name of every chain once. */
  readonly ratio: string;
}

function measure(run: () => unknown): number {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    run();
    times.push(performance.now() - start);
  }
  return median(times);
}

/** Typical searches that a page sends while somebody types. */
async function runChainSearchBenchmark(list?: string): Promise<SearchBenchmarkRow[]> {
  const options = {
    include: 'all' as const,
    defaults: true,
    localChains: false,
    ...(list !== undefined && { list: path.resolve(list) }),
  };
  const { chains } = buildRegistry({
    ...options,
    list: await readChainList(options),
    defaults: chosenDefaults(options),
    configured: new Map(),
    contractChainIds: [],
  });
  const bare = measure(() => chains.filter(({ record }) => record.name.length > 0));
  const filters: Record<string, ChainFilter> = {
    'no filter': {},
    supported: { supported: true },
    'one word': { words: 'eth' },
    'three words': { words: 'arbitrum testnet sepolia' },
    'a word that nothing has': { words: 'zzzzzz' },
  };
  console.log(`${chains.length} chains, a page of 100`);
  return Object.entries(filters).map(([search, filter]) => {
    const took = measure(() => searchChains(chains, filter, { limit: 100 }));
    const { matching } = searchChains(chains, filter, { limit: 100 });
    const ratio = (took / bare).toFixed(1);
    return { search, matching, medianMs: took.toFixed(3), ratio };
  });
}

console.table(await runChainSearchBenchmark(process.argv[2]));
