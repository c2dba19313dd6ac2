import { type VNode } from 'preact';

/** An address that shows its two ends; all of it is there for those who copy, search, print or hear it. */
export function ShortAddress({ address }: { readonly address: string }): VNode {
  return (
    <code class="short-address" title={address}>
      {address.slice(0, 6)}
      <span class="middle">{address.slice(6, -4)}</span>
      <span class="end">{address.slice(-4)}</span>
    </code>
  );
}
