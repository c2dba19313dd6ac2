import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { createApi } from '../api.ts';
import { MatchShape } from '../parts/match-mark.tsx';
import { ImplementationLink } from './implementation-link.tsx';
import { type Proxy, readProxy } from './contract-data.ts';
import { isClaim } from './is-claim.ts';
import { matchOf } from './verdict.ts';

const IMPLEMENTATIONS_SHOWN = 5;

/** The kinds of proxies by the names of their standards. */
const KINDS: Readonly<Record<string, string>> = {
  EIP1167Proxy: 'EIP-1167 proxy',
  EIP1967Proxy: 'EIP-1967 proxy',
  PROXIABLEProxy: 'EIP-1822 proxy',
  ZeppelinOSProxy: 'ZeppelinOS proxy',
  GnosisSafeProxy: 'Safe proxy',
  SequenceWalletProxy: 'Sequence wallet proxy',
  DiamondProxy: 'EIP-2535 diamond',
};

/** Implementations of a proxy, each with its own mark; nothing for any other contract. */
export function ProxyLine({
  proxy: given,
  base,
  chainId,
  address,
}: {
  /** As the service last read it; null if it has not yet. */
  readonly proxy: Proxy | null;
  readonly base: string;
  readonly chainId: string;
  readonly address: string;
}): VNode | null {
  const [proxy, setProxy] = useState(given);
  const isKnown = proxy?.isProxy !== undefined;
  useEffect(() => {
    if (isKnown) return;
    const api = createApi((path) => fetch(`${base}${path}`));
    void readProxy(api, { chainId, address }).then((read) => setProxy(read ?? null));
  }, [isKnown, base, chainId, address]);
  if (proxy?.isProxy !== true) return null;
  const { proxyType, implementations = [] } = proxy;
  const more = implementations.length - IMPLEMENTATIONS_SHOWN;
  return (
    <p class="proxy">
      <strong>{KINDS[proxyType ?? ''] ?? 'Proxy'}</strong> →{' '}
      {implementations.length === 0 && <span class="quiet">implementation unknown</span>}
      {implementations.slice(0, IMPLEMENTATIONS_SHOWN).map((each, index) => (
        <span key={each.address}>
          {index > 0 && ', '}
          <Implementation of={each} href={`${base}contract/${chainId}/${each.address}`} />
        </span>
      ))}
      {more > 0 && <span class="quiet"> and {more} more</span>}
    </p>
  );
}

const WORDS = {
  full: 'full match',
  partial: 'partial match',
  claimed: 'claimed by another service',
  none: 'not verified here',
} as const;

/** Address, name and mark of an implementation. */
function Implementation({
  of: { address, name, match, origin },
  href,
}: {
  readonly of: NonNullable<Proxy['implementations']>[number];
  readonly href: string;
}): VNode {
  const known = matchOf(match) ?? 'none';
  const kind = known !== 'none' && isClaim(origin) ? 'claimed' : known;
  return (
    <>
      <ImplementationLink {...{ href, address, name }} />{' '}
      <span class={`match ${kind}`} title={WORDS[kind]}>
        <MatchShape kind={kind} />{' '}
        <span class={kind === 'none' ? undefined : 'unseen'}>{WORDS[kind]}</span>
      </span>
    </>
  );
}
