import { type VNode } from 'preact';
import { formatCount } from '../format.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { type TopChain } from './overview-data.ts';

/** Chains with the most contracts, each with a bar. */
export function LargestChains({
  chains,
  base,
}: {
  readonly chains: readonly TopChain[];
  readonly base: string;
}): VNode {
  const [first] = chains;
  const most = first === undefined ? 1 : first.full + first.partial;
  return (
    <table class="largest">
      <caption class="unseen">Chains with most contracts</caption>
      <thead class="unseen">
        <tr>
          <th scope="col">Chain</th>
          <th scope="col">Contracts</th>
        </tr>
      </thead>
      <tbody>
        {chains.map(({ chainId, name, full, partial }) => (
          <tr key={chainId}>
            <th scope="row">
              <a class="row-link" href={`${base}registry/${chainId}`}>
                <SafeText text={name} />
              </a>
              <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                <rect class="rest" width="100" height="4" />
                <rect
                  class="part"
                  width={Math.max(0.5, (100 * (full + partial)) / most).toFixed(1)}
                  height="4"
                />
              </svg>
            </th>
            <td class="figure">{formatCount(full + partial)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
