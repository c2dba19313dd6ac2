import { type VNode } from 'preact';

/** Icon of a chain, if the operator provides one; it is decorative. */
export function ChainIcon({
  chainId,
  hasIcon,
  base,
}: {
  readonly chainId: number | string;
  readonly hasIcon: boolean;
  readonly base: string;
}): VNode | null {
  if (!hasIcon) return null;
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
