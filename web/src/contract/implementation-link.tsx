import { type VNode } from 'preact';
import { SafeText } from '../parts/safe-text.tsx';
import { ShortAddress } from '../parts/short-address.tsx';

/** Link to the implementation of a proxy: its address, and its name if it is verified here. */
export function ImplementationLink({
  href,
  address,
  name,
}: {
  readonly href: string;
  readonly address: string;
  readonly name: string | undefined;
}): VNode {
  return (
    <a href={href}>
      <ShortAddress address={address} />
      {name !== undefined && (
        <>
          {' '}
          <SafeText text={name} />
        </>
      )}
    </a>
  );
}
