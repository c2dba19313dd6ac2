import { type VNode } from 'preact';
import { CountsBar } from '../charts/counts-bar.tsx';
import { allOf, hasClaims, verifiedOf } from '../counts-apart.ts';
import { formatCount } from '../format.ts';
import { ChainIcon } from '../parts/chain-icon.tsx';
import { MatchShape } from '../parts/match-mark.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { type TopChain } from './overview-data.ts';

/** Chains with the most verified contracts, each with a bar; claims are counted apart. */
export function LargestChains({
  chains,
  withIcon,
  base,
}: {
  readonly chains: readonly TopChain[];
  /** Ids of chains that have an icon. */
  readonly withIcon: readonly number[];
  readonly base: string;
}): VNode {
  const most = Math.max(...chains.map(allOf));
  const withClaims = hasClaims(chains);
  const isAligned = chains.some(({ chainId }) => withIcon.includes(chainId));
  return (
    <table class="largest">
      <caption class="unseen">Chains with most contracts</caption>
      <thead class="unseen">
        <tr>
          <th scope="col">Chain</th>
          <th scope="col">Verified contracts</th>
          {withClaims && <th scope="col">Claims</th>}
        </tr>
      </thead>
      <tbody>
        {chains.map(({ chainId, name, ...counts }) => (
          <tr key={chainId}>
            <th scope="row">
              <ChainIcon
                {...{ chainId, base }}
                hasIcon={withIcon.includes(chainId)}
                isAligned={isAligned}
              />
              <a class="row-link" href={`${base}registry/${chainId}`}>
                <SafeText text={name} />
              </a>
              <CountsBar {...counts} most={most} />
            </th>
            <td class="figure">{formatCount(verifiedOf(counts))}</td>
            {withClaims && (
              <td class="figure">
                {counts.claimed > 0 && (
                  <span class="match claimed">
                    <MatchShape kind="claimed" size={11} /> {formatCount(counts.claimed)}
                  </span>
                )}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
