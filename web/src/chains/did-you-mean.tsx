import { type VNode } from 'preact';
import { type RegistryLine } from '../answers.ts';
import { ChainLink } from './chain-link.tsx';

/** Links to suggested chains. */
export function DidYouMean({
  chains,
  base,
}: {
  readonly chains: readonly RegistryLine[];
  readonly base: string;
}): VNode | null {
  if (chains.length === 0) return null;
  return (
    <>
      <p>Did you mean</p>
      <ul>
        {chains.map((chain) => (
          <li key={chain.chainId}>
            <ChainLink chain={chain} base={base} />
          </li>
        ))}
      </ul>
    </>
  );
}
