import { type VNode } from 'preact';
import { type RegistryLine } from '../answers.ts';
import { SafeText } from '../parts/safe-text.tsx';

/** A chain in a list of links: its name, its id, and its short name if it has one. */
export function ChainLink({
  chain: { chainId, name, shortName },
  base,
}: {
  readonly chain: Pick<RegistryLine, 'chainId' | 'name' | 'shortName'>;
  readonly base: string;
}): VNode {
  return (
    <>
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
    </>
  );
}
