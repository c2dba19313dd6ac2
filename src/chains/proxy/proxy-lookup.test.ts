import { expect, test } from 'vitest';
import { type Hex } from '../../lib/hex.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { createProxyLookup } from './proxy-lookup.ts';
import { type ProxyReading } from './read-proxy.ts';

const CHAIN = { record: { chainId: 1 } } as RegisteredChain;
const READING: ProxyReading = { blockNumber: 1, blockHash: '0x', delegates: false };
const CLIENT = '192.0.2.1';
const OTHER = '198.51.100.1';
const addressOf = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`;

/** A lookup whose reads finish on command. */
function prepare() {
  const readings: { readonly address: Hex; readonly end: (error?: Error) => void }[] = [];
  let now = 0;
  const lookup = createProxyLookup({
    readProxy: (_chain, address) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error): void => (error ? reject(error) : resolve(READING));
        readings.push({ address, end });
      }),
    findSupportedChain: (chainId) => (chainId === 1 ? CHAIN : undefined),
    quorumOf: () => undefined,
    now: () => now,
  });
  return { lookup, readings, pass: (ms: number) => (now += ms) };
}

/** Waits until that many reads have begun. */
async function begun(readings: readonly unknown[], count: number): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  expect(readings).toHaveLength(count);
}

test('concurrent lookups, and those within 30 seconds, share one reading', async () => {
  const { lookup, readings, pass } = prepare();
  const asked = [lookup.find(1, addressOf(1), CLIENT), lookup.find(1, addressOf(1), CLIENT)];
  await begun(readings, 1);
  readings[0]?.end();
  expect(await Promise.all(asked)).toEqual([READING, READING]);
  pass(29_999);
  expect(await lookup.find(1, addressOf(1), CLIENT)).toBe(READING);
  expect(readings).toHaveLength(1);
  pass(1);
  const anew = lookup.find(1, addressOf(1), CLIENT);
  await begun(readings, 2);
  readings[1]?.end();
  await anew;
});

test('a failure is cached for five seconds and keeps the earlier reading', async () => {
  const { lookup, readings, pass } = prepare();
  const first = lookup.find(1, addressOf(1), CLIENT);
  await begun(readings, 1);
  readings[0]?.end();
  await first;
  pass(30_000);
  const asked = lookup.find(1, addressOf(1), CLIENT);
  await begun(readings, 2);
  readings[1]?.end(new Error('no answer'));
  await expect(asked).rejects.toThrow('no answer');
  pass(4_999);
  await expect(lookup.find(1, addressOf(1), OTHER)).rejects.toThrow('no answer');
  expect(readings).toHaveLength(2);
  expect(lookup.newest(1, addressOf(1))).toBe(READING);
  expect(lookup.newest(1, addressOf(2))).toBeUndefined();
  pass(1);
  const again = lookup.find(1, addressOf(1), CLIENT);
  await begun(readings, 3);
  readings[2]?.end();
  expect(await again).toBe(READING);
});

test('a client with many lookups does not block other clients', async () => {
  const { lookup, readings } = prepare();
  const asked = Array.from({ length: 20 }, (_, index) => lookup.find(1, addressOf(index), CLIENT));
  await begun(readings, 4);
  await expect(lookup.find(1, addressOf(20), CLIENT)).rejects.toMatchObject({
    code: 'queue_full',
    details: { retryAfterSeconds: 2 },
  });
  const other = lookup.find(1, addressOf(21), OTHER);
  await begun(readings, 5);
  expect(readings.map(({ address }) => address)).toEqual([0, 1, 2, 3, 21].map(addressOf));
  for (let done = 0; done < 21; done += 1) {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    readings[done]?.end();
  }
  expect(await Promise.all([...asked, other])).toHaveLength(21);
});

test('sends no request for an unsupported chain', async () => {
  const { lookup, readings } = prepare();
  await expect(lookup.find(2, addressOf(1), CLIENT)).rejects.toMatchObject({
    code: 'unsupported_chain',
  });
  expect(readings).toHaveLength(0);
});
