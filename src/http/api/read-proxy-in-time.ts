import { setTimeout as wait } from 'node:timers/promises';

import { type ProxyReading } from '../../chains/proxy/read-proxy.ts';
import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type HttpParts } from '../http-parts.ts';

/** Which contract may be a proxy, and who asks. */
export interface ProxyQuestion {
  readonly chainId: number;
  readonly address: Hex;
  readonly client: string;
}

/** Reading a record waits for the chain no longer than this. */
const PROXY_WAIT_MS = 3_000;

/** The reading of an address without code: it is no proxy. */
export const NO_CODE: ProxyReading = { blockNumber: 0, blockHash: '0x', delegates: false };

/** What a contract is, as the chain says it; {@link NO_CODE} where no code is left. */
export async function findProxy(
  proxies: HttpParts['proxies'],
  { chainId, address, client }: ProxyQuestion,
): Promise<ProxyReading> {
  try {
    return await proxies.find(chainId, address, client);
  } catch (error) {
    const isEmpty = error instanceof FullmatchError && error.code === 'contract_not_deployed';
    if (isEmpty) return NO_CODE;
    throw error;
  }
}

/**
 * What a contract is: as the chain says it now or, where it does not in time, as it was read last.
 * @returns the error where neither is known
 */
export async function readProxyInTime(
  proxies: HttpParts['proxies'],
  asked: ProxyQuestion,
): Promise<ProxyReading | FullmatchError> {
  const { chainId, address } = asked;
  const ended = new AbortController();
  const finding = findProxy(proxies, asked).catch((error: unknown) => {
    if (error instanceof FullmatchError) return error;
    throw error;
  });
  const waiting = wait(PROXY_WAIT_MS, undefined, { signal: ended.signal }).then(
    () =>
      new FullmatchError(
        'cannot_fetch_bytecode',
        `The storage of ${address} on chain ${chainId} could not be read in time.`,
        { details: { chainId, address } },
      ),
    () => undefined,
  );
  try {
    const read = (await Promise.race([finding, waiting])) ?? (await finding);
    if (!(read instanceof FullmatchError)) return read;
    return proxies.newest(chainId, address) ?? read;
  } finally {
    ended.abort();
  }
}
