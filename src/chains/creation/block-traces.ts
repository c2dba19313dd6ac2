import { z } from 'zod';
import { type Hex } from '../../lib/hex.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import {
  callTrace,
  findCallTracerCreation,
  findFlatCreation,
  flatFrame,
  type FrameEvent,
  walkCallTracer,
  walkFlatTrace,
} from '../rpc/create-frames.ts';
import { lacksMethod } from '../rpc/creation-trace.ts';
import { ANSWER_MAX_BYTES } from '../rpc/rpc-answer.ts';
import { hash, hashOrNull, listOf, toQuantity } from '../rpc/rpc-shapes.ts';
import { type MethodDependencies } from './method-parts.ts';

/**
 * Response of trace_block (OpenEthereum's format): the frames of all transactions, and rewards without a
 * transaction.
 */
export const flatBlockTrace = listOf(
  flatFrame.extend({ transactionHash: hash.nullish(), blockHash: hashOrNull.optional() }),
);

/** Response of debug_traceBlockByNumber with geth's callTracer. The hash was added in geth 1.11. */
export const callTracerBlock = listOf(
  z.object({ txHash: hashOrNull.optional(), result: z.unknown() }),
);

/** Traces of a block in one of two formats. */
export type BlockTraces =
  | { readonly format: 'flat'; readonly frames: z.output<typeof flatBlockTrace> }
  | { readonly format: 'call_tracer'; readonly traces: z.output<typeof callTracerBlock> };

/** Methods that trace a whole block. */
export const BLOCK_TRACE_METHODS = ['trace_block', 'debug_traceBlockByNumber'] as const;
export type BlockTraceMethod = (typeof BLOCK_TRACE_METHODS)[number];

/** For callers that query an endpoint repeatedly. */
export interface BlockTraceOptions {
  /** Methods that the endpoint is known not to support. */
  readonly lacks?: (method: BlockTraceMethod) => boolean;
  /** Called for each method that the endpoint refuses, or whose response has another shape. */
  readonly onRefusal?: (method: BlockTraceMethod, error: unknown) => void;
}

/** The traces of a block, by the first tracing method that the endpoint supports; undefined if it supports none. */
export async function readBlockTraces(
  { rpc, chain, signal }: Pick<MethodDependencies, 'rpc' | 'chain' | 'signal'>,
  endpoint: Endpoint,
  number: number,
  { lacks, onRefusal }: BlockTraceOptions = {},
): Promise<BlockTraces | undefined> {
  const block = toQuantity(number);
  const maxBytes = ANSWER_MAX_BYTES;
  const readers: Record<BlockTraceMethod, () => Promise<BlockTraces | undefined>> = {
    trace_block: async () => {
      const request = { method: 'trace_block', params: [block], result: flatBlockTrace, maxBytes };
      const frames = await rpc.ask(chain, endpoint, request, { signal });
      // A node whose trace index is behind returns none, which proves nothing about the block.
      return frames.length > 0 ? { format: 'flat', frames } : undefined;
    },
    debug_traceBlockByNumber: async () => {
      const request = {
        method: 'debug_traceBlockByNumber',
        params: [block, { tracer: 'callTracer' }],
        result: callTracerBlock,
        maxBytes,
      };
      return { format: 'call_tracer', traces: await rpc.ask(chain, endpoint, request, { signal }) };
    },
  };
  for (const method of BLOCK_TRACE_METHODS) {
    if (lacks?.(method) === true) continue;
    try {
      const traces = await readers[method]();
      if (traces !== undefined) return traces;
    } catch (error) {
      if (!lacksMethod(error)) throw error;
      onRefusal?.(method, error);
    }
  }
  return undefined;
}

/**
 * Transactions of a block that created the address in an inner call, in block order.
 * @param hashes the transactions of the block, for traces without transaction hashes
 */
export function findBlockCreations(
  traces: BlockTraces,
  address: Hex,
  hashes: readonly Hex[],
): readonly Hex[] {
  const holds = createHolds();
  if (traces.format === 'flat') {
    return [...framesByTransaction(traces.frames)].flatMap(([transactionHash, frames]) =>
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

/** Contracts that one transaction created and destroyed. */
export interface TransactionTrace {
  readonly transactionHash: Hex;
  /** In order of execution; undefined if the trace has another shape. */
  readonly events: readonly FrameEvent[] | undefined;
}

/**
 * Contracts that the transactions of a block created and destroyed, in trace order.
 * @param hashes the transactions of the block, for traces without transaction hashes
 */
export function readTransactionTraces(
  traces: BlockTraces,
  hashes: readonly Hex[],
): readonly TransactionTrace[] {
  let others = 0;
  const collect = (walk: () => Iterable<FrameEvent>): readonly FrameEvent[] | undefined => {
    if (others > OTHERS_MAX) return undefined;
    try {
      return [...walk()];
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      others += 1;
      return undefined;
    }
  };
  if (traces.format === 'flat') {
    return [...framesByTransaction(traces.frames)].map(([transactionHash, frames]) => ({
      transactionHash,
      events: collect(() => walkFlatTrace(frames)),
    }));
  }
  return traces.traces.flatMap(({ txHash, result }, index) => {
    const transactionHash = txHash ?? hashes[index];
    if (transactionHash === undefined) return [];
    return { transactionHash, events: collect(() => walkCallTracer(result)) };
  });
}

type FlatFrames = Extract<BlockTraces, { format: 'flat' }>['frames'];

/**
 * Contracts that one transaction created and destroyed, by an endpoint that traces transactions; undefined if
 * it does not, or if the trace is too large or has another shape.
 */
export async function readTransactionTrace(
  { rpc, chain, signal }: Pick<MethodDependencies, 'rpc' | 'chain' | 'signal'>,
  endpoint: Endpoint,
  transactionHash: Hex,
): Promise<TransactionTrace | undefined> {
  const maxBytes = ANSWER_MAX_BYTES;
  const readers: readonly (() => Promise<readonly FrameEvent[]>)[] = [
    async () => {
      const params = [transactionHash, { tracer: 'callTracer' }];
      const request = { method: 'debug_traceTransaction', params, result: callTrace, maxBytes };
      return [...walkCallTracer(await rpc.ask(chain, endpoint, request, { signal }))];
    },
    async () => {
      const params = [transactionHash];
      const request = { method: 'trace_transaction', params, result: flatBlockTrace, maxBytes };
      const frames = await rpc.ask(chain, endpoint, request, { signal });
      const isOwn = frames.every(
        (each) => (each.transactionHash ?? transactionHash) === transactionHash,
      );
      return frames.length > 0 && isOwn ? [...walkFlatTrace(frames)] : NO_TRACE;
    },
  ];
  for (const read of readers) {
    try {
      const events = await read();
      if (events !== NO_TRACE) return { transactionHash, events };
    } catch (error) {
      if (!lacksMethod(error)) throw error;
    }
  }
  return undefined;
}

const NO_TRACE: readonly FrameEvent[] = [];

function framesByTransaction(frames: FlatFrames): ReadonlyMap<Hex, FlatFrames> {
  const byTransaction = new Map<Hex, FlatFrames>();
  for (const frame of frames) {
    const key = frame.transactionHash ?? undefined;
    if (key === undefined) continue;
    const known = byTransaction.get(key);
    if (known === undefined) byTransaction.set(key, [frame]);
    else known.push(frame);
  }
  return byTransaction;
}

/** Maximum transactions of a block whose traces have another shape; more mean that the endpoint uses another format. */
const OTHERS_MAX = 500;

/** One transaction in another shape, such as a system transaction without a trace, proves nothing about the others. */
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
