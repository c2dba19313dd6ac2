import { afterEach, describe, expect, test } from 'vitest';
import {
  type RpcMethod,
  type RpcServer,
  sampleEndpoint,
  startRpcServer,
} from '../../../test/support/rpc-server.ts';
import { waitUntil as until } from '../../../test/support/wait-for.ts';
import { createGuardedFetch } from '../../lib/guarded-fetch.ts';
import { silentLogger } from '../../log.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type ChainRegistry } from '../registry/registry.ts';
import { quantity } from '../rpc/rpc-shapes.ts';
import { type ChainHealth, watchEndpoints } from './chain-health.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const BLOCK_NUMBER = { method: 'eth_blockNumber', params: [], result: quantity };
const broken: RpcMethod = (_params, response) => void response.writeHead(500).end();

async function serve(chainId: number, number: number): Promise<RpcServer> {
  const server = await startRpcServer({
    eth_chainId: () => `0x${chainId.toString(16)}`,
    eth_blockNumber: () => `0x${number.toString(16)}`,
    eth_getBlockByNumber: () => ({
      number: '0x1',
      hash: `0x${'1'.repeat(64)}`,
      timestamp: '0x1',
    }),
    eth_getBalance: () => '0x0',
  });
  closers.push(server.close);
  return server;
}

function chainOf(chainId: number, servers: readonly RpcServer[]): RegisteredChain {
  return {
    record: { name: `Chain ${chainId}`, rpc: [], chainId, supported: true, monitored: false },
    origins: {},
    endpoints: servers.map(({ url }) => sampleEndpoint(url)),
    testnet: false,
    local: true,
  };
}

/** Watches chains and marks some as configured. Both lists may be replaced. */
function watch(
  chains: readonly RegisteredChain[],
  configuredIds: readonly number[],
  { enabled = true, supportedChains = false } = {},
): { health: ChainHealth; configure: (chainIds: readonly number[]) => void } {
  const fetch = createGuardedFetch({
    allowPrivate: chains.flatMap(({ endpoints }) => endpoints.map(({ label }) => label)),
    maxBytes: 1_000_000,
    deadlineMs: 5000,
    maxRedirects: 0,
    userAgent: 'fullmatch-test',
  });
  closers.push(() => fetch.close());
  const mapOf = (ids: readonly number[]) => new Map(ids.map((id) => [id, {}]));
  let configured = mapOf(configuredIds);
  const registry: ChainRegistry = { chains, findings: [], listSource: 'embedded', listSha256: '' };
  const health = watchEndpoints(
    fetch,
    { registry: () => registry, inputs: () => ({ configured, options: { localChains: false } }) },
    { enabled, everySeconds: 1, dailyBudget: 1_000_000, supportedChains, lightEveryMs: 1000 },
    silentLogger,
  );
  closers.push(() => health.close());
  return { health, configure: (ids) => (configured = mapOf(ids)) };
}

describe('Probed endpoints', () => {
  test('are tried last while down and first again when up', async () => {
    const [first, second] = [await serve(1, 11), await serve(1, 22)];
    first.methods.eth_chainId = broken;
    const chain = chainOf(1, [first, second]);
    const { health } = watch([chain], [1]);
    await until(() => health.report(chain).endpoints[0]!.state === 'down');
    expect(await health.rpc.askAny(chain, BLOCK_NUMBER)).toMatchObject({ value: 22 });
    expect(first.calls).not.toContain('eth_blockNumber');
    first.methods.eth_chainId = () => '0x1';
    await until(() => health.report(chain).state === 'up');
    expect(await health.rpc.askAny(chain, BLOCK_NUMBER)).toMatchObject({ value: 11 });
    expect(health.archive(1, chain.endpoints[0]!)).toBe('yes');
    expect(health.summary()).toEqual({ up: 1, degraded: 0, unknown: 0, down: [] });
  });

  test('belong to configured chains, following configuration changes', async () => {
    const [one, two] = [await serve(1, 1), await serve(2, 2)];
    const chains = [chainOf(1, [one]), chainOf(2, [two])] as const;
    const { health, configure } = watch(chains, [1]);
    await until(() => health.report(chains[0]).state === 'up');
    expect(health.report(chains[1])).toMatchObject({
      state: 'not_probed',
      reasons: [{ code: 'not_configured' }],
    });
    expect(two.calls).toEqual([]);
    configure([2]);
    expect(health.report(chains[0]).state).toBe('not_probed');
    await until(() => health.report(chains[1]).state === 'up');
    const calls = one.calls.length;
    // Meanwhile the other endpoint is probed repeatedly.
    const others = two.calls.length;
    await until(() => two.calls.length > others + 3);
    expect(one.calls).toHaveLength(calls);
  });

  test('of supported chains are probed lightly and left out of the summary', async () => {
    const servers = await Promise.all([1, 1, 1, 1].map((chainId) => serve(chainId, 7)));
    servers[0]!.methods.eth_chainId = broken;
    const unsupported = chainOf(3, [await serve(3, 3)]);
    const chains = [
      chainOf(1, servers),
      chainOf(2, [await serve(2, 2)]),
      { ...unsupported, record: { ...unsupported.record, supported: false } },
    ] as const;
    const { health } = watch(chains, [2], { supportedChains: true });
    await until(() => health.states().get(2) === 'up');
    await until(() => health.report(chains[0]).endpoints.some(({ state }) => state === 'up'));
    expect(health.report(chains[0]).endpoints[3]).toMatchObject({ state: 'not_probed' });
    expect(servers[3]!.calls).toEqual([]);
    expect(servers[1]!.calls).not.toContain('eth_getBalance');
    expect(health.summary()).toEqual({ up: 1, degraded: 0, unknown: 0, down: [] });
    expect(health.reports().map(({ chainId }) => chainId)).toEqual([2]);
    expect(health.report(chains[2])).toMatchObject({
      state: 'not_probed',
      reasons: [{ code: 'not_supported' }],
    });
  });

  test('of the wrong chain are retried after a configuration change', async () => {
    const server = await serve(5, 1);
    const chain = chainOf(1, [server]);
    const { health, configure } = watch([chain], [1]);
    await until(() => health.report(chain).state === 'down');
    expect(health.report(chain).endpoints[0]!.state).toBe('wrong_chain');
    server.methods.eth_chainId = () => '0x1';
    configure([1]);
    await until(() => health.report(chain).state === 'up');
  });

  test('are none if probing is disabled', async () => {
    const server = await serve(1, 1);
    const chain = chainOf(1, [server]);
    const { health } = watch([chain], [1], { enabled: false });
    // A probed endpoint shows when this one would have been probed.
    const probed = chainOf(2, [await serve(2, 2)]);
    const { health: other } = watch([probed], [2]);
    await until(() => other.report(probed).state === 'up');
    expect(server.calls).toEqual([]);
    expect(health.report(chain)).toMatchObject({
      state: 'not_probed',
      reasons: [{ code: 'probing_disabled' }],
    });
    expect(await health.rpc.askAny(chain, BLOCK_NUMBER)).toMatchObject({ value: 1 });
  });
});
