import { describe, expect, test } from 'vitest';
import { type z } from 'zod';
import { findCallTracerCreation } from '../rpc/create-frames.ts';
import { ANSWER_MAX_BYTES, decodeRpcAnswer } from '../rpc/rpc-answer.ts';
import { callTracerBlock, findBlockCreations, flatBlockTrace } from './block-traces.ts';
import { blockReceipts, fullBlock } from './search-block.ts';

const HASH = `0x${'77'.repeat(32)}`;
const ADDRESS = `0x${'c0'.repeat(20)}` as const;
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

/** Far more than any of these responses takes on an idle machine, about 50 ms. */
const LENIENT_MS = 10_000;

function read(result: unknown, shape: z.ZodType): boolean {
  const answer = decodeRpcAnswer(bodyOf(JSON.stringify(result)), 1);
  return answer?.kind === 'result' && shape.safeParse(answer.result).success;
}
const bodyOf = (result: string): Buffer =>
  Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
const timed = <T>(run: () => T): T => {
  const startedAt = performance.now();
  const value = run();
  expect(performance.now() - startedAt).toBeLessThan(LENIENT_MS);
  return value;
};

const block = (transactions: unknown): object => ({
  number: '0x1',
  hash: HASH,
  timestamp: '0x1',
  transactions,
});
const transaction = { hash: HASH, from: ADDRESS, to: ADDRESS, input: '0x', blockHash: HASH };
const flatFrame = { type: 'call', traceAddress: [] };

describe('Responses crafted to be slow', () => {
  test.each([
    ['a block of numbers', block(times(99_000, 0)), fullBlock],
    ['a block of wrong transactions', block(times(19_000, { hash: 1 })), fullBlock],
    ['a block of whole hashes in place of transactions', block(times(99_000, HASH)), fullBlock],
    ['wrong receipts', times(49_000, {}), blockReceipts],
    ['wrong flat frames', times(49_000, {}), flatBlockTrace],
    ['too many flat frames', times(24_000, flatFrame), flatBlockTrace],
    [
      'a trace address of texts',
      [{ type: 'call', traceAddress: times(99_000, 'x') }],
      flatBlockTrace,
    ],
    [
      'a trace address of great length',
      [{ type: 'call', traceAddress: times(99_000, 0) }],
      flatBlockTrace,
    ],
    ['traces that are numbers', times(99_000, 0), callTracerBlock],
    [
      'traces with wrong hashes in great number',
      times(30_000, { txHash: 1, result: 0 }),
      callTracerBlock,
    ],
  ])('rejects %s at once', (_, result, shape) => {
    expect(timed(() => read(result, shape))).toBe(false);
  });

  test('rejects text full of escapes, which is slow to parse', () => {
    const text = '\\u0041'.repeat(Math.floor(ANSWER_MAX_BYTES / 6) - 100);
    expect(timed(() => decodeRpcAnswer(bodyOf(`"${text}"`), 1))).toBeUndefined();
  });

  test('skips a few malformed elements', () => {
    const mixed = block([...times(500, 'system'), transaction, ...times(100, transaction)]);
    expect(fullBlock.parse(mixed).transactions).toHaveLength(101);
  });

  test('reads malformed block traces quickly and finds nothing', () => {
    const traces = callTracerBlock.parse(times(19_000, { txHash: 1, result: { type: 1 } }));
    const hashes = times(19_000, HASH as `0x${string}`);
    const find = (): unknown =>
      findBlockCreations({ format: 'call_tracer', traces }, ADDRESS, hashes);
    expect(timed(find)).toEqual([]);
    const calls = times(19_000, { type: 'CALL', from: ADDRESS, to: 'nobody', input: '0x' });
    const root = { type: 'CALL', from: ADDRESS, to: ADDRESS, input: '0x', calls };
    expect(timed(() => findCallTracerCreation(root, ADDRESS))).toBeUndefined();
  });
});
