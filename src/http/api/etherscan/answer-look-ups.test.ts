import { type Context } from 'hono';
import { expect, test } from 'vitest';
import { type ProxyReading } from '../../../chains/proxy/read-proxy.ts';
import { FullmatchError } from '../../../errors.ts';
import { answerSource } from './answer-look-ups.ts';
import { type EtherscanParts, type EtherscanRequest } from './etherscan-request.ts';

const ADDRESS = `0x${'11'.repeat(20)}`;
const IMPLEMENTATION = `0x${'ab'.repeat(20)}` as const;
const OLD = {
  ...{ blockNumber: 1, blockHash: '0x', delegates: true },
  proxy: { implementations: [IMPLEMENTATION] },
} as unknown as ProxyReading;

/**
 * Requests the source of a verified contract.
 * @returns the response text, or the error
 */
async function ask(proxies: EtherscanParts['proxies']): Promise<string> {
  const parts = {
    ...{ proxies, clientOf: () => 'client' },
    registry: () => ({ chains: [{ record: { chainId: 1 } }] }),
    contracts: { readContract: async () => ({}) },
    // Any method called on `answers` would show the record.
    answers: new Proxy(
      {},
      {
        get: () => () => Promise.reject(new Error('the record is shown')),
      },
    ),
  } as unknown as EtherscanParts;
  const c = { env: {}, req: { header: () => undefined, raw: {} } } as unknown as Context;
  const fields = { chainid: '1', address: ADDRESS };
  const question = { c, dialect: 'etherscan', fields } as unknown as EtherscanRequest;
  try {
    return await (await answerSource(parts, question)).text();
  } catch (error) {
    return (error as Error).message;
  }
}

const refusing = (code: 'cannot_fetch_bytecode' | 'queue_full' | 'contract_not_deployed') => () =>
  Promise.reject(new FullmatchError(code, 'no'));

test('asks the client to retry if the proxy lookup fails without an earlier reading', async () => {
  for (const code of ['cannot_fetch_bytecode', 'queue_full'] as const) {
    const answer = await ask({ find: refusing(code), newest: () => undefined, findings: 0 });
    expect(answer).toContain('could not be read from the chain now');
    expect(answer).toContain('NOTOK');
  }
});

test('falls back to the latest earlier reading, and treats missing code as no proxy', async () => {
  const old = await ask({ find: refusing('queue_full'), newest: () => OLD, findings: 0 });
  const gone = await ask({
    find: refusing('contract_not_deployed'),
    newest: () => undefined,
    findings: 0,
  });
  for (const answer of [old, gone]) expect(answer).not.toContain('could not be read');
});
