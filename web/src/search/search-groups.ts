import { type FoundSignature } from './load-signatures.ts';
import { foldText } from '../../../src/lib/fold-text.ts';
import { type FoundChain, isExactChain, matchesName } from './search-words.ts';

/** Groups of search results, in their usual order. */
export const GROUPS = ['contracts', 'chains', 'jobs', 'signatures'] as const;
export type Group = (typeof GROUPS)[number];

/** Headings of the groups. */
export const GROUP_NAMES: Readonly<Record<Group, string>> = {
  contracts: 'Contracts',
  chains: 'Chains',
  jobs: 'Jobs',
  signatures: 'Signatures',
};

/** Results that decide which group comes first. */
interface Results {
  readonly chains: readonly FoundChain[];
  readonly contracts: readonly { readonly name?: string | null }[];
  readonly signatures: readonly FoundSignature[];
}

/** The order of the groups for a text: the one with an exact match comes first. */
export function orderGroups(words: string, { chains, contracts, signatures }: Results): Group[] {
  const [likeliest] = chains;
  const isChain = likeliest !== undefined && isExactChain(likeliest, words);
  const isContract = contracts.some(({ name }) => foldText(name ?? '') === foldText(words));
  const mayBeChain = likeliest !== undefined && matchesName(likeliest, words);
  const first =
    signatures.length > 0
      ? 'signatures'
      : isChain || (mayBeChain && !isContract)
        ? 'chains'
        : 'contracts';
  return [first, ...GROUPS.filter((group) => group !== first)];
}
