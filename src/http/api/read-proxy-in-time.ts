import { setTimeout as wait } from 'node:timers/promises';

import { type ProxyReading } from '../../chains/proxy/read-proxy.ts';
import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type HttpDependencies } from '../http-dependencies.ts';

/** A contract that may be a proxy, and the client that asks. */
export interface ProxyQuestion {
  readonly chainId: number;
  readonly address: Hex;
  readonly client: string;
}

/** Longest time that a response waits for the chain. */
const PROXY_WAIT_MS = 3_000;

/** The reading of an address without bytecode, which is not a proxy. */
export const NO_CODE: ProxyReading = { blockNumber: 0, blockHash: '0x', delegates: false };

/** Reads from the chain whether a contract is a proxy; {@link NO_CODE} if it no longer has bytecode. */
export async function findProxy(
  proxies: HttpDependencies['proxies'],
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
 * Reads whether a contract is a proxy, from the chain or, if that takes too long or fails, from the last
 * reading.
 * @returns the error if neither is available
 */
export async function readProxyInTime(
  proxies: HttpDependencies['proxies'],
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
