import { describe, expect, test } from 'vitest';
import { registryOf } from '../../../test/support/chain-sources.ts';
import { findChain } from './chain-reference.ts';

const registry = registryOf({
  list: [
    { name: 'Ethereum Mainnet', shortName: 'eth', rpc: [], chainId: 1 },
    { name: 'Blast', shortName: 'blastmainnet', rpc: [], chainId: 81457 },
    { name: 'Blast Mainnet', shortName: 'blast', rpc: [], chainId: 238 },
    { name: 'Twin', shortName: 'one', rpc: [], chainId: 11 },
    { name: 'Twin', shortName: 'two', rpc: [], chainId: 12 },
    { name: 'Upper', shortName: 'ABC', rpc: [], chainId: 21 },
    { name: 'Lower', shortName: 'abc', rpc: [], chainId: 22 },
    { name: '0xHash Testnet', shortName: '0xt', rpc: [], chainId: 77787778 },
    { name: 'Far', rpc: [], chainId: 9007199254740991 },
  ],
});

describe('findChain', () => {
  test.each([
    ['1', 1],
    ['0x1', 1],
    ['0X1', 1],
    ['0x01', 1],
    ['eip155:1', 1],
    [' 1 ', 1],
    ['eth', 1],
    ['ETH', 1],
    ['Ethereum Mainnet', 1],
    ['ethereum mainnet', 1],
    ['9007199254740991', 9007199254740991],
    ['0x1fffffffffffff', 9007199254740991],
    ['eip155:9007199254740991', 9007199254740991],
    ['0xt', 77787778],
    ['ABC', 21],
    ['abc', 22],
  ])('finds %s', (ref, chainId) => {
    expect(findChain(registry, ref).record.chainId).toBe(chainId);
  });

  test('prefers an exact short name to an exact name, and either to a different case', () => {
    expect(findChain(registry, 'blast').record.chainId).toBe(238);
    expect(findChain(registry, 'Blast').record.chainId).toBe(81457);
  });

  test.each(['Twin', 'twin', 'aBc', 'BLAST'])('rejects the ambiguous reference %s', (ref) => {
    expect(() => findChain(registry, ref)).toThrow(
      expect.objectContaining({ code: 'ambiguous_chain_reference' }),
    );
  });

  test('lists the candidates by id, name and short name', () => {
    expect(() => findChain(registry, 'Twin')).toThrow(/11 Twin \(one\), 12 Twin \(two\)/);
  });

  test.each(['2', '0x2', 'eip155:2', 'nothing like it', '-1', '1.5'])(
    'finds no chain for %s',
    (ref) => {
      expect(() => findChain(registry, ref)).toThrow(
        expect.objectContaining({ code: 'chain_not_found' }),
      );
    },
  );

  test('suggests the nearest name', () => {
    expect(() => findChain(registry, 'Etherum Mainet')).toThrow(
      expect.objectContaining({
        code: 'chain_not_found',
        details: expect.objectContaining({ suggestion: 'Ethereum Mainnet' }) as object,
      }),
    );
  });

  test.each([
    '',
    '  ',
    '0',
    '01',
    '0x0',
    'eip155:',
    'eip155:0x1',
    'eip155:eth',
    'eip155:01',
    '9007199254740992',
    '0x20000000000000',
    'a'.repeat(101),
    '9'.repeat(101),
  ])('rejects %j as a malformed reference', (ref) => {
    expect(() => findChain(registry, ref)).toThrow(
      expect.objectContaining({ code: 'invalid_parameter' }),
    );
  });

  test('removes control characters of a reference from the message', () => {
    expect(() => findChain(registry, 'a\u001b[31m\n')).toThrow(
      expect.objectContaining({
        message: expect.not.stringContaining('\u001b') as string,
      }),
    );
  });
});
