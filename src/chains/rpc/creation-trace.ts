import { z } from 'zod';
import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { type RpcChain } from './rpc-chain.ts';
import {
  callTrace,
  type CreateFrame,
  findCallTracerCreation,
  findFlatCreation,
  flatTrace,
  isCallTraceOf,
  isFlatTraceOf,
  type TracedTransaction,
} from './create-frames.ts';
import { ANSWER_MAX_BYTES } from './rpc-answer.ts';
import { type AskOptions, type RpcClient } from './rpc-client.ts';

/** Determines with a client whether a transaction created a contract. */
export interface CreationCheck {
  readonly rpc: RpcClient;
  readonly chain: RpcChain;
  readonly address: Hex;
  readonly transactionHash: Hex;
  readonly options: AskOptions;
}

/** Whether an endpoint does not support a method: it refused, or its response has another shape. */
export function lacksMethod(error: unknown): boolean {
  const code = error instanceof FullmatchError ? error.code : undefined;
  return code === 'rpc_refused' || code === 'rpc_invalid_answer' || error instanceof z.ZodError;
}

/**
 * The CREATE inside a transaction, by the first tracing method that the endpoint supports. A response that is
 * not a trace of this transaction counts as none: nodes without its state return an empty one.
 */
export async function traceCreation(
  { rpc, chain, address, transactionHash, options }: CreationCheck,
  endpoint: Endpoint,
  transaction: TracedTransaction,
): Promise<CreateFrame | 'created_nothing_here' | 'traces_unavailable'> {
  const tracings: readonly (() => Promise<CreateFrame | 'created_nothing_here' | undefined>)[] = [
    async () => {
      const request = {
        method: 'debug_traceTransaction',
        params: [transactionHash, { tracer: 'callTracer' }],
        result: callTrace,
        maxBytes: ANSWER_MAX_BYTES,
      };
      const trace = await rpc.ask(chain, endpoint, request, options);
      if (!isCallTraceOf(trace, transaction)) return undefined;
      return findCallTracerCreation(trace, address) ?? 'created_nothing_here';
    },
    async () => {
      const request = {
        method: 'trace_transaction',
        params: [transactionHash],
        result: flatTrace.unwrap(),
        maxBytes: ANSWER_MAX_BYTES,
      };
      const trace = await rpc.ask(chain, endpoint, request, options);
      if (!isFlatTraceOf(trace, transaction)) return undefined;
      return findFlatCreation(trace, address) ?? 'created_nothing_here';
    },
  ];
  for (const trace of tracings) {
    try {
      const found = await trace();
      if (found !== undefined) return found;
    } catch (error) {
      if (!lacksMethod(error)) throw error;
    }
  }
  return 'traces_unavailable';
}
