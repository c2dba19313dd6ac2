import { type VNode } from 'preact';
import { SafeText } from '../parts/safe-text.tsx';
import { type RegistryLine } from '../answers.ts';

/** Links to chains that may have been meant. */
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
        {chains.map(({ chainId, name, shortName }) => (
          <li key={chainId}>
            <a href={`${base}registry/${chainId}`}>
              <SafeText text={name} />
            </a>{' '}
            <span class="quiet">
              {chainId}
              {shortName !== undefined && (
                <>
                  , <SafeText text={shortName} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
