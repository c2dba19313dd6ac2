import { z } from 'zod';
import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { type AskedChain } from './asked-chain.ts';
import {
  callTrace,
  type CreateFrame,
  findCallTracerCreation,
  findFlatCreation,
  flatTrace,
} from './create-frames.ts';
import { ANSWER_MAX_BYTES } from './rpc-answer.ts';
import { type AskOptions, type RpcClient } from './rpc-client.ts';

/** Whether a transaction created a contract, asked with a client. */
export interface CreationQuestion {
  readonly rpc: RpcClient;
  readonly chain: AskedChain;
  readonly address: Hex;
  readonly transactionHash: Hex;
  readonly options: AskOptions;
}

/** Whether an endpoint said that it does not have a method: it refused, or answered in another shape. */
export function lacksMethod(error: unknown): boolean {
  const code = error instanceof FullmatchError ? error.code : undefined;
  return code === 'rpc_refused' || code === 'rpc_invalid_answer' || error instanceof z.ZodError;
}

/** The CREATE inside a transaction, by the first tracing method that the endpoint has. */
export async function traceCreation(
  { rpc, chain, address, transactionHash, options }: CreationQuestion,
  endpoint: Endpoint,
): Promise<CreateFrame | 'created_nothing_here' | 'traces_unavailable'> {
  const tracings: readonly (() => Promise<CreateFrame | undefined>)[] = [
    async () => {
      const request = {
        method: 'debug_traceTransaction',
        params: [transactionHash, { tracer: 'callTracer' }],
        result: callTrace,
        maxBytes: ANSWER_MAX_BYTES,
      };
      return findCallTracerCreation(await rpc.ask(chain, endpoint, request, options), address);
    },
    async () => {
      const request = {
        method: 'trace_transaction',
        params: [transactionHash],
        result: flatTrace.unwrap(),
        maxBytes: ANSWER_MAX_BYTES,
      };
      return findFlatCreation(await rpc.ask(chain, endpoint, request, options), address);
    },
  ];
  for (const trace of tracings) {
    try {
      return (await trace()) ?? 'created_nothing_here';
    } catch (error) {
      if (!lacksMethod(error)) throw error;
    }
  }
  return 'traces_unavailable';
}
