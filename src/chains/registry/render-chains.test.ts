import { describe, expect, test } from 'vitest';
import { registryOf } from '../../../test/support/chain-sources.ts';
import { FullmatchError } from '../../errors.ts';
import { Secret } from '../../lib/secret.ts';
import { assertNoSecrets, renderChains } from './render-chains.ts';
import { type ServiceChain } from './service-chain.ts';

const KEY = '64a9df0874fb4a93b9d0a3849de012d3';

function check(fields: Partial<ServiceChain>, value: string): unknown {
  const registry = registryOf({
    list: [{ name: 'Testnet', rpc: ['https://rpc.example.org'], chainId: 1 }],
    configured: [{ chainId: 7, name: 'Seven', ...fields }],
  });
  try {
    assertNoSecrets(registry, [
      { name: 'OTHER', secret: new Secret('not in there at all') },
      { name: 'RPC_KEY', secret: new Secret(value) },
    ]);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('renderChains', () => {
  test('renders compact JSON, and an empty registry as an empty array', () => {
    expect(renderChains(registryOf()).toString()).toBe('[]');
    const registry = registryOf({ list: [{ name: 'ARÉV ◈', rpc: [], chainId: 1 }] });
    expect(renderChains(registry).toString('utf8')).toBe(
      '[{"name":"ARÉV ◈","network":"mainnet","rpc":[],"chainId":1,"supported":false,"monitored":false}]',
    );
  });
});

describe('assertNoSecrets', () => {
  test.each([
    ['in an endpoint', { rpc: [`https://rpc.example.org/v3/${KEY}`] }, KEY, 'rpc[0]'],
    ['in another case', { rpc: [`https://${KEY.toUpperCase()}.example.org`] }, KEY, 'rpc[0]'],
    ['in a name', { name: `Seven ${KEY}` }, KEY, 'name'],
    [
      'percent-encoded',
      { infoURL: 'https://a.example.org/?k=p%40ss%2Fword' },
      'p@ss/word',
      'infoURL',
    ],
    [
      'percent-encoded throughout',
      { infoURL: 'https://a.example.org/%68%75%6e%74%65%72%32%32' },
      'hunter22',
      'infoURL',
    ],
    ['decoded', { title: 'p@ss word' }, 'p%40ss%20word', 'title'],
    ['JSON-escaped', { title: 'say "hunter"\\' }, 'say "hunter"\\', 'title'],
    [
      'within an object',
      { explorers: [{ name: 'e', url: `https://e.example.org/${KEY}`, standard: 'none' }] },
      KEY,
      'explorers[0]',
    ],
    [
      'as the key of a secret URL',
      { rpc: [`wss://rpc.example.org/ws/v3/${KEY}`] },
      `https://rpc.example.org/v3/${KEY}`,
      'rpc[0]',
    ],
    ['as a short word', { title: 'the word abc7 stands here' }, 'abc7', 'title'],
  ] satisfies [string, Partial<ServiceChain>, string, string][])(
    'finds a secret %s',
    (_where, fields, value, field) => {
      const error = check(fields, value);
      expect(error).toBeInstanceOf(FullmatchError);
      expect(error).toMatchObject({
        code: 'secret_in_document',
        details: { chainId: 7, field, secret: 'RPC_KEY' },
      });
      const { message, details } = error as FullmatchError;
      expect(message).toContain('Chain 7');
      expect(message).toContain(field);
      expect(message).toContain('RPC_KEY');
      expect(`${message}${JSON.stringify(details)}`).not.toContain(value);
    },
  );

  test('finds nothing in a document without secrets', () => {
    const privateRpc = [new Secret(`https://rpc.example.org/v3/${KEY}`)];
    expect(check({ privateRpc }, `https://rpc.example.org/v3/${KEY}`)).toBeUndefined();
  });

  test('ignores chance matches: short secrets in longer words, very short ones anywhere', () => {
    expect(check({}, 'test')).toBeUndefined();
    expect(check({ title: 'a b c' }, 'b')).toBeUndefined();
    expect(check({}, '')).toBeUndefined();
  });
});
