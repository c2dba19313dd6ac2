import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { createApi } from '../api.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { type Proxy, readProxy } from './contract-data.ts';

const IMPLEMENTATIONS_SHOWN = 5;

/** Implementations of a proxy; nothing for any other contract. */
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
  const { proxyType = null, implementations = [] } = proxy;
  const more = implementations.length - IMPLEMENTATIONS_SHOWN;
  return (
    <p class="proxy">
      <strong>Proxy</strong>
      {proxyType !== null && <span class="quiet"> {proxyType.replace(/Proxy$/, '')}</span>} →{' '}
      {implementations.length === 0 && <span class="quiet">implementation unknown</span>}
      {implementations.slice(0, IMPLEMENTATIONS_SHOWN).map((each, index) => (
        <>
          {index > 0 && ', '}
          <a key={each.address} href={`${base}contract/${chainId}/${each.address}`}>
            {each.name === undefined ? <code>{each.address}</code> : <SafeText text={each.name} />}
          </a>
          {each.name === undefined && <span class="quiet"> not verified here</span>}
        </>
      ))}
      {more > 0 && <span class="quiet"> and {more} more</span>}
    </p>
  );
}
