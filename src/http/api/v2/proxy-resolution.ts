import { createHash } from 'node:crypto';

import { type ProxyReading } from '../../../chains/proxy/read-proxy.ts';
import { FullmatchError } from '../../../errors.ts';
import { checksumAddress, type Hex } from '../../../lib/hex.ts';
import { type NamedContract } from '../../../repository/repository.ts';
import { type ResponseOf } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { type ProxyQuestion, readProxyInTime } from '../read-proxy-in-time.ts';
import { type proxyResolutionSchema } from './contract-schema.ts';
import { MATCH_NAMES } from './render-contract.ts';

type ProxyResolution = ResponseOf<typeof proxyResolutionSchema>;

/** Dependencies for reading proxies and describing their implementations. */
interface ProxyParts extends Pick<HttpDependencies, 'proxies'> {
  readonly contracts: Pick<HttpDependencies['contracts'], 'findVerified'>;
}

/**
 * Returns the current proxy resolution of a contract, with the names and matches of implementations verified here; the
 * error if the chain does not respond in time.
 */
export async function resolveProxy(
  { proxies, contracts }: ProxyParts,
  question: ProxyQuestion,
): Promise<ProxyResolution> {
  const reading = await readProxyInTime(proxies, question);
  if (reading instanceof FullmatchError)
    return { proxyResolutionError: toError(question, reading) };
  return renderReading(contracts, question.chainId, reading);
}

/** Returns the proxy resolution of the last reading, without reading the chain; undefined if there is none. */
export async function recallProxy(
  { proxies, contracts }: ProxyParts,
  { chainId, address }: Pick<ProxyQuestion, 'chainId' | 'address'>,
): Promise<ProxyResolution | undefined> {
  const reading = proxies.newest(chainId, address);
  return reading && renderReading(contracts, chainId, reading);
}

/** Renderings in progress: concurrent requests for the same reading share one. */
const underWay = new WeakMap<ProxyReading, Promise<ProxyResolution>>();

/** A diamond may have hundreds of implementations; they are looked up once for all waiting requests. */
function renderReading(
  contracts: Pick<HttpDependencies['contracts'], 'findVerified'>,
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
  contracts: Pick<HttpDependencies['contracts'], 'findVerified'>,
  chainId: number,
  reading: ProxyReading,
): Promise<ProxyResolution> {
  const { type = null, implementations = [] } = reading.proxy ?? {};
  const verified =
    implementations.length === 0
      ? new Map<Hex, NamedContract>()
      : await contracts.findVerified(chainId, implementations);
  return {
    isProxy: reading.proxy !== undefined,
    proxyType: type,
    implementations: implementations.map((address) => {
      const found = verified.get(address);
      return {
        address: checksumAddress(address),
        ...(found && {
          ...{ name: found.name, match: MATCH_NAMES[found.match], origin: found.origin },
        }),
      };
    }),
  };
}

/** The id is derived from the facts: equal errors have equal bytes and keep their entity tag. */
function toError(
  { chainId, address }: ProxyQuestion,
  { code, message }: FullmatchError,
): NonNullable<ProxyResolution['proxyResolutionError']> {
  const facts = createHash('sha256').update(JSON.stringify([chainId, address, code, message]));
  const digits = facts.digest('hex');
  // A version 8 UUID, whose bits are application-defined (RFC 9562).
  const groups = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`];
  const errorId = [...groups, `8${digits.slice(17, 20)}`, digits.slice(20, 32)].join('-');
  return { customCode: 'proxy_resolution_error', message, errorId };
}
