import { type VNode } from 'preact';

/**
 * Icon of a chain, if the operator provides one; it is decorative. In a list with icons, a chain without one
 * keeps the space, so that names are aligned.
 */
export function ChainIcon({
  chainId,
  hasIcon,
  base,
  isAligned = false,
}: {
  readonly chainId: number | string;
  readonly hasIcon: boolean;
  readonly base: string;
  /** Whether the list has icons. */
  readonly isAligned?: boolean;
}): VNode | null {
  if (!hasIcon) return isAligned ? <span class="chain-icon" /> : null;
  return (
    <img
      class="chain-icon"
      src={`${base}v1/chains/${chainId}/icon`}
      alt=""
      width={24}
      height={24}
      loading="lazy"
      decoding="async"
    />
  );
}
