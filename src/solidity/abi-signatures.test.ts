import { expect, test } from 'vitest';
import { ownMethodIdentifiers, signaturesOf } from './abi-signatures.ts';

const uint = { name: 'a', type: 'uint256' };

test('returns functions, events and errors with their hashes', () => {
  const abi = [
    { type: 'constructor', inputs: [uint] },
    { type: 'function', name: 'transfer', inputs: [{ type: 'address' }, uint] },
    // Before 0.4.16 entries do not state that they are functions. The second entry is an overload.
    { name: 'transfer', inputs: [uint] },
    { type: 'event', name: 'Transfer', inputs: [{ type: 'address' }, { type: 'address' }, uint] },
    { type: 'event', name: 'Transfer', inputs: [{ type: 'address' }, { type: 'address' }, uint] },
    { type: 'error', name: 'Error', inputs: [{ type: 'string' }] },
    { type: 'receive', stateMutability: 'payable' },
    { type: 'fallback' },
  ];
  // The well-known hashes of these signatures.
  expect(signaturesOf(abi)).toEqual({
    function: [
      {
        signature: 'transfer(address,uint256)',
        signatureHash32: '0xa9059cbb2ab09eb219583f4a59a5d0623ade346d962bcd4e46b11da047c9049b',
        signatureHash4: '0xa9059cbb',
      },
      expect.objectContaining({ signature: 'transfer(uint256)' }),
    ],
    event: [
      {
        signature: 'Transfer(address,address,uint256)',
        signatureHash32: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
        signatureHash4: '0xddf252ad',
      },
    ],
    error: [expect.objectContaining({ signatureHash4: '0x08c379a0' })],
  });
});

test('expands tuples to their member types, also in arrays', () => {
  const inner = { type: 'tuple[2]', components: [{ type: 'bool' }, { type: 'bytes32[]' }] };
  const tuple = { type: 'tuple[]', components: [uint, inner] };
  expect(signaturesOf([{ type: 'function', name: 'f', inputs: [tuple] }]).function).toMatchObject([
    { signature: 'f((uint256,(bool,bytes32[])[2])[])' },
  ]);
});

test.each([
  ['nothing', undefined],
  ['no list', {}],
  ['no entries', [null, 7, 'f()']],
  ['no name', [{ type: 'function', inputs: [] }]],
  ['a name that is none', [{ type: 'function', name: 'f(', inputs: [] }]],
  ['inputs without types', [{ type: 'function', name: 'f', inputs: [{}] }]],
  ['a tuple without members', [{ type: 'function', name: 'f', inputs: [{ type: 'tuple' }] }]],
])('returns none for %s', (_what, abi) => {
  expect(signaturesOf(abi)).toEqual({ function: [], event: [], error: [] });
});

test("uses the compiler's selectors for a library", () => {
  const pair = { type: 'tuple', components: [{ type: 'uint8' }, { type: 'uint8' }] };
  const abi = [
    { type: 'function', name: 'add', inputs: [pair] },
    { type: 'error', name: 'Odd', inputs: [pair] },
  ];
  const compiled = { 'add(Pair)': 'b5232883', 'plain(uint256,bytes)': 'ca859a61', 'false()': '0' };
  const identifiers = ownMethodIdentifiers(abi, compiled);
  const { function: functions, error } = signaturesOf(abi, identifiers);
  expect(functions.map(({ signature, signatureHash4 }) => [signature, signatureHash4])).toEqual([
    ['add(Pair)', '0xb5232883'],
    ['plain(uint256,bytes)', '0xca859a61'],
  ]);
  expect(error.map(({ signature }) => signature)).toEqual(['Odd((uint8,uint8))']);
});

test("uses the ABI of a contract, whatever the compiler's identifiers", () => {
  const abi = [{ type: 'function', name: 'transfer', inputs: [{ type: 'address' }, uint] }];
  expect(ownMethodIdentifiers(abi, { 'transfer(address,uint256)': 'a9059cbb' })).toBeUndefined();
  expect(ownMethodIdentifiers(abi, undefined)).toBeUndefined();
});
