import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hexToBytes } from '../../lib/hex.ts';
import { holdsDelegateCall, isSequenceWallet, minimalProxyTarget } from './proxy-code.ts';

const TARGET = 'be862ad9abfe6f22bcb087716c7d89a26051f74c';
const MINIMAL = `363d3d373d3d3d363d73${TARGET}5af43d82803e903d91602b57fd5bf3`;

test('finds the target of a minimal proxy, and of no other code', () => {
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
  expect(minimalProxyTarget(hexToBytes(`${MINIMAL}00`))).toBeUndefined();
});

test('passes over the data of PUSH operations', () => {
  expect(holdsDelegateCall(hexToBytes('60f4'))).toBe(false);
  expect(holdsDelegateCall(hexToBytes(`7f${'f4'.repeat(32)}`))).toBe(false);
  expect(holdsDelegateCall(hexToBytes('60f4f4'))).toBe(true);
  expect(holdsDelegateCall(hexToBytes(MINIMAL))).toBe(true);
  expect(holdsDelegateCall(hexToBytes('7f'))).toBe(false);
});

test('knows the wallets of Sequence by their whole code', () => {
  const wallet = '363d3d373d3d3d363d30545af43d82803e903d91601857fd5bf3';
  expect(isSequenceWallet(hexToBytes(wallet))).toBe(true);
  expect(isSequenceWallet(hexToBytes(`${wallet}00`))).toBe(false);
});
