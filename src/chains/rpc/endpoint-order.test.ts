import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleEndpoint } from '../../../test/support/rpc-server.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { type RpcChain } from './rpc-chain.ts';
import { type EndpointRank, orderEndpoints, planBatches, quorumFor } from './endpoint-order.ts';

function chainOf(hosts: readonly string[]): RpcChain {
  const endpoints = hosts.map((host, index) => sampleEndpoint(`https://${host}/${index}`));
  return { record: { chainId: 1 }, endpoints, local: false };
}

function rankBy(chain: RpcChain, ranks: readonly EndpointRank[]) {
  return (_chainId: number, endpoint: Endpoint): EndpointRank =>
    ranks[chain.endpoints.indexOf(endpoint)] ?? 'first';
}

/** Own nodes and public ones, with a rank each. */
const cases = fc
  .array(
    fc.record({
      host: fc.constantFrom('10.0.0.1', 'a.example', 'b.example', 'c.example'),
      rank: fc.constantFrom<EndpointRank>('first', 'later', 'last'),
    }),
    { maxLength: 8 },
  )
  .map((entries) => {
    const chain = chainOf(entries.map(({ host }) => host));
    const ranks = entries.map(({ rank }) => rank);
    return { chain, ranks, preference: rankBy(chain, ranks) };
  });
const quorum = fc.constantFrom(undefined, 1 as const, 2 as const);

describe('Endpoint order', () => {
  test('is by rank, and by configured order within a rank', () => {
    const chain = chainOf(['a.example', 'b.example', 'c.example', 'd.example']);
    const preference = rankBy(chain, ['last', 'later', 'first', 'last']);
    const hosts = orderEndpoints(chain, preference).map(({ label }) => label);
    expect(hosts).toEqual(['c.example', 'b.example', 'a.example', 'd.example']);
  });

  test('contains every endpoint exactly once', () => {
    fc.assert(
      fc.property(cases, quorum, ({ chain, preference }, wanted) => {
        const planned = planBatches(chain, wanted, preference).flat();
        expect(new Set(planned)).toEqual(new Set(chain.endpoints));
        expect(planned).toHaveLength(chain.endpoints.length);
      }),
    );
  });

  test('puts unhelpful endpoints last and gives sufficient ones their own batch', () => {
    fc.assert(
      fc.property(cases, quorum, ({ chain, preference }, wanted) => {
        const batches = planBatches(chain, wanted, preference);
        const isLast = batches.flat().map((endpoint) => preference(1, endpoint) === 'last');
        expect(isLast).toEqual([...isLast].sort());
        for (const batch of batches) {
          const needed = batch.map((endpoint) => quorumFor(chain, endpoint, wanted));
          if (needed.includes(1)) expect(batch).toHaveLength(1);
        }
      }),
    );
  });
});
