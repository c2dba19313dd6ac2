import { type VNode } from 'preact';
import { type ContractPage } from '../answers.ts';
import { createApi } from '../api.ts';
import { isClaim } from '../contract/is-claim.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { useRead } from './use-read.ts';
import { ADDRESS, CHAIN_ID, type VerifyFields } from './verify-form.ts';

/** The service's data about a chain, once it is selected. */
export type ChainState =
  | { readonly kind: 'supported' | 'unsupported'; readonly name: string }
  | { readonly kind: 'unknown' };

/** Whether the service verifies contracts of a chain. */
export function useChainState(base: string, chain: string): ChainState | undefined {
  const api = createApi((path) => fetch(`${base}${path}`));
  return useRead(
    CHAIN_ID.test(chain) ? chain : undefined,
    async (id): Promise<ChainState | undefined> => {
      const answer = await api.get<{ readonly name: string; readonly supported: boolean }>(
        `chains/${id}`,
      );
      if (answer.state === 'failed') return answer.status === 404 ? { kind: 'unknown' } : undefined;
      const { name, supported } = answer.value;
      return { kind: supported ? 'supported' : 'unsupported', name };
    },
  );
}

/** Message for an unsupported chain; undefined for others. */
export function describeUnsupported(
  state: ChainState | undefined,
  chainId: string,
): string | undefined {
  if (state?.kind === 'unknown') return 'No chain with this id is known here.';
  if (state?.kind !== 'unsupported') return undefined;
  return `${state.name} (${chainId}) isn't supported here.`;
}

/** Warns before submission that the contract is already verified. */
export function KnownContract({
  base,
  fields: { chain, address },
}: {
  readonly base: string;
  readonly fields: VerifyFields;
}): VNode {
  const api = createApi((path) => fetch(`${base}${path}`));
  const isPlace = CHAIN_ID.test(chain) && ADDRESS.test(address);
  const known = useRead(isPlace ? `${chain}/${address}` : undefined, async () => {
    const answer = await api.get<ContractPage>(`v1/contracts/search?chain=${chain}&q=${address}`);
    return answer.state === 'ready' ? answer.value.results[0] : undefined;
  });
  return (
    <p class="hint" role="status">
      {known !== undefined && (
        <>
          {isClaim(known.origin)
            ? `Another service claims a ${known.match} match; a match here will replace it: `
            : known.match === 'full'
              ? 'This contract already has a full match: '
              : 'This contract has a partial match; a full match will replace it: '}
          <a href={`${base}contract/${chain}/${address}`}>see it</a>.
        </>
      )}
    </p>
  );
}

/** Confirms that a chain is supported, or links to the supported chains. */
export function SupportedChain({
  base,
  state,
}: {
  readonly base: string;
  readonly state: ChainState | undefined;
}): VNode {
  return (
    <p class="hint" role="status">
      {state?.kind === 'supported' && (
        <>
          <SafeText text={state.name} />: supported.
        </>
      )}
      {state?.kind === 'unsupported' && (
        <a href={`${base}registry?supported=yes`}>See supported chains</a>
      )}
    </p>
  );
}
