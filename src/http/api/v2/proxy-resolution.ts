import { createHash } from 'node:crypto';

import { FullmatchError } from '../../../errors.ts';
import { checksumAddress } from '../../../lib/hex.ts';
import { type AnswerOf } from '../../answer.ts';
import { type HttpParts } from '../../http-parts.ts';
import { type ProxyQuestion, readProxyInTime } from '../read-proxy-in-time.ts';
import { type proxyResolutionSchema } from './contract-schema.ts';

type ProxyResolution = AnswerOf<typeof proxyResolutionSchema>;

/**
 * What runs in the place of a contract now, with the names of implementations that are verified here. Where the chain does
 * not say in time, that is the answer.
 */
export async function resolveProxy(
  { proxies, contracts }: Pick<HttpParts, 'proxies' | 'contracts'>,
  asked: ProxyQuestion,
): Promise<ProxyResolution> {
  const reading = await readProxyInTime(proxies, asked);
  if (reading instanceof FullmatchError) return { proxyResolutionError: toError(asked, reading) };
  const { type = null, implementations = [] } = reading.proxy ?? {};
  const names =
    implementations.length === 0
      ? new Map<string, string>()
      : await contracts.findNames(asked.chainId, implementations);
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
