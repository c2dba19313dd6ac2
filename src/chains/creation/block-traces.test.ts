import { describe, expect, test } from 'vitest';
import { type Hex } from '../../lib/hex.ts';
import { callTracerBlock, findBlockCreations, flatBlockTrace } from './block-traces.ts';

const MADE: Hex = `0x${'aa'.repeat(20)}`;
const FACTORY: Hex = `0x${'fa'.repeat(20)}`;
const SENDER: Hex = `0x${'5e'.repeat(20)}`;
const hashOf = (digit: number): Hex => `0x${String(digit).repeat(64)}`;
const HASHES = [1, 2, 3, 4].map(hashOf);

describe('Creations in block traces', () => {
  const call = (calls: readonly object[], rest: object = {}): object => ({
    ...{ type: 'CALL', from: SENDER, to: FACTORY, input: '0x', calls },
    ...rest,
  });
  const create = { type: 'CREATE2', from: FACTORY, to: MADE, input: '0x6001' };

  test.each([
    ['with the hashes of the transactions', (index: number) => ({ txHash: hashOf(index + 1) })],
    ['without, as before geth 1.11', () => ({})],
  ])('are found in call trees %s', (_title, named) => {
    const results = [
      call([create]),
      call([call([create], { error: 'execution reverted' })]),
      null,
      call([call([create])]),
    ];
    const traces = callTracerBlock.parse(
      results.map((result, index) => ({ ...named(index), result })),
    );
    expect(findBlockCreations({ format: 'call_tracer', traces }, MADE, HASHES)).toEqual([
      hashOf(1),
      hashOf(4),
    ]);
  });

  test('are found in flat traces by transaction, ignoring rewards', () => {
    const made = {
      type: 'create',
      action: { from: FACTORY, init: '0x6001' },
      result: { address: MADE },
    };
    const frames = flatBlockTrace.parse([
      { type: 'call', traceAddress: [], transactionHash: hashOf(1) },
      { ...made, traceAddress: [0], transactionHash: hashOf(1) },
      { type: 'call', traceAddress: [], transactionHash: hashOf(2), error: 'Reverted' },
      { ...made, traceAddress: [0], transactionHash: hashOf(2) },
      { ...made, traceAddress: [], transactionHash: hashOf(3), result: { address: SENDER } },
      { ...made, traceAddress: [], transactionHash: hashOf(4), action: { from: 7 } },
      { type: 'reward', traceAddress: [], transactionHash: null },
    ]);
    expect(findBlockCreations({ format: 'flat', frames }, MADE, HASHES)).toEqual([hashOf(1)]);
  });
});
