import { z } from 'zod';
import { type Hex } from '../../lib/hex.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { findCallTracerCreation, findFlatCreation, flatFrame } from '../rpc/create-frames.ts';
import { lacksMethod } from '../rpc/creation-trace.ts';
import { ANSWER_MAX_BYTES } from '../rpc/rpc-answer.ts';
import { hash, hashOrNull, listOf } from '../rpc/rpc-shapes.ts';
import { type MethodParts } from './method-parts.ts';

/** The answer of trace_block (OpenEthereum's format): the frames of all transactions, and rewards of none. */
export const flatBlockTrace = listOf(flatFrame.extend({ transactionHash: hash.nullish() }));

/** The answer of debug_traceBlockByNumber with geth's callTracer. The hash came with geth 1.11. */
export const callTracerBlock = listOf(
  z.object({ txHash: hashOrNull.optional(), result: z.unknown() }),
);

/** The traces of a block in one of two formats. */
export type BlockTraces =
  | { readonly format: 'flat'; readonly frames: z.output<typeof flatBlockTrace> }
  | { readonly format: 'call_tracer'; readonly traces: z.output<typeof callTracerBlock> };

/** The traces of a block, by the first tracing method that the endpoint has; undefined when it has none. */
export async function readBlockTraces(
  { rpc, chain, signal }: MethodParts,
  endpoint: Endpoint,
  number: number,
): Promise<BlockTraces | undefined> {
  const block = `0x${number.toString(16)}`;
  const maxBytes = ANSWER_MAX_BYTES;
  try {
    const request = { method: 'trace_block', params: [block], result: flatBlockTrace, maxBytes };
    const frames = await rpc.ask(chain, endpoint, request, { signal });
    // A node whose index of traces has not come so far gives none, which is not a word about the block.
    if (frames.length > 0) return { format: 'flat', frames };
  } catch (error) {
    if (!lacksMethod(error)) throw error;
  }
  try {
    const params = [block, { tracer: 'callTracer' }];
    const request = {
      method: 'debug_traceBlockByNumber',
      params,
      result: callTracerBlock,
      maxBytes,
    };
    return { format: 'call_tracer', traces: await rpc.ask(chain, endpoint, request, { signal }) };
  } catch (error) {
    if (!lacksMethod(error)) throw error;
    return undefined;
  }
}

/**
 * The transactions of a block that created the address in an inner call, in block order.
 * @param hashes the transactions of the block, for traces that do not name theirs
 */
export function findBlockCreations(
  traces: BlockTraces,
  address: Hex,
  hashes: readonly Hex[],
): readonly Hex[] {
  const holds = createHolds();
  if (traces.format === 'flat') {
    const byTransaction = new Map<Hex, (typeof traces.frames)[number][]>();
    for (const frame of traces.frames) {
      const key = frame.transactionHash ?? undefined;
      if (key === undefined) continue;
      const frames = byTransaction.get(key) ?? [];
      frames.push(frame);
      byTransaction.set(key, frames);
    }
    return [...byTransaction].flatMap(([transactionHash, frames]) =>
      holds(() => findFlatCreation(frames, address)) ? transactionHash : [],
    );
  }
  return traces.traces.flatMap(({ txHash, result }, index) => {
    const transactionHash = txHash ?? hashes[index];
    return transactionHash && holds(() => findCallTracerCreation(result, address))
      ? transactionHash
      : [];
  });
}

/** Transactions of a block whose traces have another shape; more say that the endpoint does not have this format. */
const OTHERS_MAX = 500;

/** One transaction in another shape, such as a system transaction without a trace, says nothing about the others. */
function createHolds(): (find: () => unknown) => boolean {
  let others = 0;
  return (find) => {
    if (others > OTHERS_MAX) return false;
    try {
      return find() !== undefined;
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      others += 1;
      return false;
    }
  };
}
