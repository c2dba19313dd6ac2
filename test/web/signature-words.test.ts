import { toEventSelector, toFunctionSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { orderGroups } from '../../web/src/search/search-groups.ts';
import { cutWords, isJobId, mayNameChain } from '../../web/src/search/search-words.ts';
import { hashSignature } from '../../web/src/search/signature-words.ts';

describe('a signature in the search', () => {
  test.each([
    ['transfer(address,uint256)', 'transfer(address,uint256)'],
    ['f()', 'f()'],
    [
      'function transfer(address to, uint value) external returns (bool)',
      'transfer(address,uint256)',
    ],
    [
      'event Transfer(address indexed from, address indexed to, uint256 value);',
      'Transfer(address,address,uint256)',
    ],
    [
      'swap((address a, int[] b) calldata key, tuple(bytes,bool)[2] x)',
      'swap((address,int256[]),(bytes,bool)[2])',
    ],
  ])('%s is %s', (text, signature) => {
    expect(hashSignature(text)).toEqual({
      signature,
      selector: toFunctionSelector(signature),
      topic: toEventSelector(signature),
    });
  });

  test.each(['token', 'f(', 'f(IERC20 token)', 'f(,)', 'f((uint)', '(uint256)', '((((((((('])(
    '%s is none',
    (text) => {
      expect(hashSignature(text)).toBeUndefined();
    },
  );

  test('may be longer than other texts', () => {
    const long = `f(${Array.from({ length: 30 }, () => 'uint256').join(',')})`;
    expect(cutWords(long)).toBe(long);
    expect(cutWords('x'.repeat(500))).toHaveLength(100);
    expect(mayNameChain(long)).toBe(false);
    expect(isJobId('00000000-0000-4000-8000-00000000000g')).toBe(false);
  });
});

describe('the order of groups', () => {
  const base = { chainId: 8453, name: 'Base', shortName: 'base', supported: true };
  const none = { chains: [], contracts: [], signatures: [] };
  test.each([
    ['base', { ...none, chains: [base], contracts: [{ name: 'Base' }] }, 'chains'],
    ['ba', { ...none, chains: [base], contracts: [{ name: 'Bank' }] }, 'chains'],
    ['ba', { ...none, chains: [base], contracts: [{ name: 'BA' }] }, 'contracts'],
    ['token', { ...none, chains: [base], contracts: [{ name: 'Token' }] }, 'contracts'],
    ['x', none, 'contracts'],
  ])('for %s begins with the exact match', (words, results, first) => {
    expect(orderGroups(words, results)[0]).toBe(first);
    expect(orderGroups(words, results)).toHaveLength(4);
  });
});
