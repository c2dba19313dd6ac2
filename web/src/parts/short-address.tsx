import { type VNode } from 'preact';

/** An address that shows its two ends; the complete address is there for copying, search, print and screen readers. */
export function ShortAddress({ address }: { readonly address: string }): VNode {
  return (
    <code class="short-address" title={address}>
      {address.slice(0, 6)}
      <span class="middle">{address.slice(6, -4)}</span>
      <span class="end">{address.slice(-4)}</span>
    </code>
  );
}
