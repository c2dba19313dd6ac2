import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hexToBytes } from '../../lib/hex.ts';
import { containsDelegateCall, isSequenceWallet, minimalProxyTarget } from './proxy-code.ts';

const TARGET = 'be862ad9abfe6f22bcb087716c7d89a26051f74c';
const MINIMAL = `363d3d373d3d3d363d73${TARGET}5af43d82803e903d91602b57fd5bf3`;

test('finds the target of a minimal proxy and rejects any altered bytecode', () => {
  expect(minimalProxyTarget(hexToBytes(MINIMAL))).toBe(`0x${TARGET}`);
  const code = hexToBytes(MINIMAL);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 44 }), fc.integer({ min: 1, max: 255 }), (at, by) => {
      const changed = Buffer.from(code);
      changed[at] = (changed[at] ?? 0) ^ by;
      const isTarget = at >= 10 && at < 30;
      expect(minimalProxyTarget(changed) !== undefined).toBe(isTarget);
    }),
  );
  expect(minimalProxyTarget(code.subarray(0, -1))).toBeUndefined();
});

/** Each with the position of its jump, for an address of 20 bytes. */
const FORMS: readonly (readonly [
  string,
  (pushed: string, jump: (at: number) => string) => string,
])[] = [
  ['EIP-1167', (at, jump) => `363d3d373d3d3d363d${at}5af43d82803e903d9160${jump(0x2b)}57fd5bf3`],
  ['44 bytes', (at, jump) => `3d3d3d3d363d3d37363d${at}5af43d3d93803e60${jump(0x2a)}57fd5bf3`],
  ['PUSH0', (at, jump) => `365f5f375f5f365f${at}5af43d5f5f3e5f3d9160${jump(0x2a)}57fd5bf3`],
  ['Solady', (at, jump) => `5f5f365f5f37365f${at}5af43d5f5f3e60${jump(0x29)}573d5ffd5b3d5ff3`],
  [
    'Vyper',
    (at, jump) => `3660006000376110006000366000${at}5af460${jump(0x2c)}57600080fd5b6110006000f3`,
  ],
];

test.each(FORMS)('finds the target of a minimal proxy of the form %s', (_, write) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 19 }), fc.uint8Array(), (zeros, behind) => {
      const digits = TARGET.slice(2 * zeros);
      const pushed = `${(0x73 - zeros).toString(16)}${digits}`;
      const jump = (at: number) => (at - zeros).toString(16).padStart(2, '0');
      const code = Buffer.concat([hexToBytes(write(pushed, jump)), behind]);
      expect(minimalProxyTarget(code)).toBe(`0x${digits.padStart(40, '0')}`);
      const other = hexToBytes(
        write(pushed, (at) => (at - zeros + 1).toString(16).padStart(2, '0')),
      );
      expect(minimalProxyTarget(other)).toBeUndefined();
    }),
  );
});

test('finds the target of a proxy that appends immutable arguments', () => {
  const write = (length: string, again = length) =>
    hexToBytes(
      `3d3d3d3d363d3d3761${length}603736393661${again}013d73${TARGET}5af43d3d93803e603557fd5bf3${'7a'.repeat(32)}0022`,
    );
  expect(minimalProxyTarget(write('0022'))).toBe(`0x${TARGET}`);
  expect(minimalProxyTarget(write('0022', '0023'))).toBeUndefined();
});

test('skips the data of PUSH instructions', () => {
  expect(containsDelegateCall(hexToBytes('60f4'))).toBe(false);
  expect(containsDelegateCall(hexToBytes(`7f${'f4'.repeat(32)}`))).toBe(false);
  expect(containsDelegateCall(hexToBytes('60f4f4'))).toBe(true);
  expect(containsDelegateCall(hexToBytes(MINIMAL))).toBe(true);
  expect(containsDelegateCall(hexToBytes('7f'))).toBe(false);
});

test('recognizes Sequence wallets by their entire bytecode', () => {
  const wallet = '363d3d373d3d3d363d30545af43d82803e903d91601857fd5bf3';
  expect(isSequenceWallet(hexToBytes(wallet))).toBe(true);
  expect(isSequenceWallet(hexToBytes(`${wallet}00`))).toBe(false);
});
