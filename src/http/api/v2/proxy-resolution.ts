import { createHash } from 'node:crypto';

import { type ProxyReading } from '../../../chains/proxy/read-proxy.ts';
import { FullmatchError } from '../../../errors.ts';
import { checksumAddress } from '../../../lib/hex.ts';
import { type AnswerOf } from '../../answer.ts';
import { type HttpParts } from '../../http-parts.ts';
import { type ProxyQuestion, readProxyInTime } from '../read-proxy-in-time.ts';
import { type proxyResolutionSchema } from './contract-schema.ts';

type ProxyResolution = AnswerOf<typeof proxyResolutionSchema>;

/** What reads proxies, and what names their implementations. */
interface ProxyParts extends Pick<HttpParts, 'proxies'> {
  readonly contracts: Pick<HttpParts['contracts'], 'findNames'>;
}

/**
 * What runs in the place of a contract now, with the names of implementations that are verified here. Where the chain does
 * not say in time, that is the answer.
 */
export async function resolveProxy(
  { proxies, contracts }: ProxyParts,
  asked: ProxyQuestion,
): Promise<ProxyResolution> {
  const reading = await readProxyInTime(proxies, asked);
  if (reading instanceof FullmatchError) return { proxyResolutionError: toError(asked, reading) };
  return renderReading(contracts, asked.chainId, reading);
}

/** What runs in the place of a contract as it was read last; undefined where that is not known. The chain is not asked. */
export async function recallProxy(
  { proxies, contracts }: ProxyParts,
  { chainId, address }: Pick<ProxyQuestion, 'chainId' | 'address'>,
): Promise<ProxyResolution | undefined> {
  const reading = proxies.newest(chainId, address);
  return reading && renderReading(contracts, chainId, reading);
}

/** The renderings under way: all who ask for a reading meanwhile wait for the same one. */
const underWay = new WeakMap<ProxyReading, Promise<ProxyResolution>>();

/** A diamond may have hundreds of implementations, whose names are asked for once for all who wait. */
function renderReading(
  contracts: Pick<HttpParts['contracts'], 'findNames'>,
  chainId: number,
  reading: ProxyReading,
): Promise<ProxyResolution> {
  const known = underWay.get(reading);
  if (known !== undefined) return known;
  const rendering = renderNamed(contracts, chainId, reading).finally(() => {
    underWay.delete(reading);
  });
  underWay.set(reading, rendering);
  return rendering;
}

async function renderNamed(
  contracts: Pick<HttpParts['contracts'], 'findNames'>,
  chainId: number,
  reading: ProxyReading,
): Promise<ProxyResolution> {
  const { type = null, implementations = [] } = reading.proxy ?? {};
  const names =
    implementations.length === 0
      ? new Map<string, string>()
      : await contracts.findNames(chainId, implementations);
  return {
    isProxy: reading.proxy !== undefined,
    proxyType: type,
    implementations: implementations.map((address) => {
      const name = names.get(address);
      return { address: checksumAddress(address), ...(name !== undefined && { name }) };
    }),
  };
}

/** The id is made of the facts: the same answer twice is the same bytes, and keeps its entity tag. */
function toError(
  { chainId, address }: ProxyQuestion,
  { code, message }: FullmatchError,
): NonNullable<ProxyResolution['proxyResolutionError']> {
  const facts = createHash('sha256').update(JSON.stringify([chainId, address, code, message]));
  const digits = facts.digest('hex');
  // A UUID whose bits have a meaning of our own (RFC 9562, version 8).
  const groups = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`];
  const errorId = [...groups, `8${digits.slice(17, 20)}`, digits.slice(20, 32)].join('-');
  return { customCode: 'proxy_resolution_error', message, errorId };
}
