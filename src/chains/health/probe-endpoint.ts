import { z } from 'zod';
import { FullmatchError } from '../../errors.ts';
import { type Endpoint, type RegisteredChain } from '../registry/registered-chain.ts';
import { CHAIN_ID, type EndpointProber, type RpcRequest } from '../rpc/rpc-client.ts';
import { reasonOf } from '../rpc/rpc-faults.ts';
import { blockHead, quantity, toQuantity } from '../rpc/rpc-shapes.ts';
import { type Head } from './block-pace.ts';
import { type TimedHead } from './judge-head.ts';

/** Result of a probe: the head, or why there is none. */
export type Probe =
  | { readonly kind: 'head'; readonly head: TimedHead; readonly latencyMs: number }
  | { readonly kind: 'fault'; readonly verdict: 'throttled' | 'bad'; readonly reason: string }
  | { readonly kind: 'wrong_chain'; readonly answeredChainId: number };

/** Whether an endpoint has a capability; `unknown` if it could not be determined. */
export type Capability = 'yes' | 'no' | 'unknown';

/** Capabilities of an endpoint beyond the newest state, and an older block to learn the chain's pace from. */
export interface Capabilities {
  readonly archive: Capability;
  readonly trace: Capability;
  readonly older?: Head;
}

/** An endpoint, and how to send a request to it. */
export interface ProbedEndpoint {
  readonly chain: RegisteredChain;
  readonly endpoint: Endpoint;
  readonly rpc: EndpointProber;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly stopwatch: () => number;
  /** Called before each request. */
  readonly onRequest: () => void;
}

/** HTTP statuses of an endpoint that is up and refuses us. */
const REFUSING_STATUSES: ReadonlySet<unknown> = new Set([401, 403, 429]);

const NOBODY = `0x${'00'.repeat(20)}`;
const NO_TRANSACTION = `0x${'00'.repeat(32)}`;
/** Far enough apart for a typical block time. */
const OLDER_BY_BLOCKS = 1000;

function blockRequest(tag: string): RpcRequest<z.output<typeof blockHead> | null> {
  return { method: 'eth_getBlockByNumber', params: [tag, false], result: blockHead.nullable() };
}

function ask<T>(probed: ProbedEndpoint, request: RpcRequest<T>): Promise<T> {
  const { rpc, chain, endpoint, deadlineMs, signal } = probed;
  probed.onRequest();
  return rpc.probe(chain, endpoint, request, { deadlineMs, signal });
}

/** Classifies a failed request. Errors that the endpoint did not cause are rethrown. */
function readFault(error: unknown): Extract<Probe, { kind: 'fault' }> {
  if (!(error instanceof FullmatchError)) throw error;
  const { httpStatus } = error.details;
  const refused = REFUSING_STATUSES.has(httpStatus);
  const reason = refused ? `status_${String(httpStatus)}` : reasonOf(error);
  const throttled =
    refused || reason === 'throttled' || reason === 'status_401' || reason === 'status_403';
  return { kind: 'fault', verdict: throttled ? 'throttled' : 'bad', reason };
}

/**
 * Requests an endpoint's chain id and its newest block. The latency is that of the second request, on the
 * open connection. Rejects only with the reason of the signal.
 */
export async function probeEndpoint(probed: ProbedEndpoint): Promise<Probe> {
  try {
    const answeredChainId = await ask(probed, CHAIN_ID);
    if (answeredChainId !== probed.chain.record.chainId) {
      return { kind: 'wrong_chain', answeredChainId };
    }
    const begun = probed.stopwatch();
    const block = await ask(probed, blockRequest('latest'));
    if (block === null) return { kind: 'fault', verdict: 'bad', reason: 'block_unknown' };
    const { number, timestamp } = block;
    const head = { number, timestamp, seenAt: probed.now() };
    return { kind: 'head', head, latencyMs: probed.stopwatch() - begun };
  } catch (error) {
    return readFault(error);
  }
}

/**
 * Determines the capabilities of an endpoint with requests whose responses are small: a balance at the
 * chain's first block needs the state of that block; tracing an empty call, or a transaction that does not
 * exist, needs the method. An error object means no; no response means nothing.
 */
export async function probeCapabilities(
  probed: ProbedEndpoint,
  head: Head,
  learnsPace: boolean,
): Promise<Capabilities> {
  const archive = await offers(probed, {
    method: 'eth_getBalance',
    params: [NOBODY, toQuantity(Math.min(1, head.number))],
    result: quantity,
  });
  const call = [{ to: NOBODY, data: '0x' }, 'latest', { tracer: 'callTracer' }];
  const debug = await offers(probed, {
    method: 'debug_traceCall',
    params: call,
    result: z.looseObject({ type: z.string() }),
  });
  const trace =
    debug !== 'no'
      ? debug
      : await offers(probed, {
          method: 'trace_transaction',
          params: [NO_TRANSACTION],
          result: z.array(z.unknown()).nullable(),
        });
  const older = learnsPace ? await readOlder(probed, head) : undefined;
  return { archive, trace, ...(older === undefined ? {} : { older }) };
}

async function offers(probed: ProbedEndpoint, request: RpcRequest<unknown>): Promise<Capability> {
  try {
    await ask(probed, request);
    return 'yes';
  } catch (error) {
    if (!(error instanceof FullmatchError)) throw error;
    return error.code === 'rpc_refused' || error.code === 'rpc_invalid_answer' ? 'no' : 'unknown';
  }
}

async function readOlder(probed: ProbedEndpoint, head: Head): Promise<Head | undefined> {
  const number = Math.max(1, head.number - OLDER_BY_BLOCKS);
  if (number >= head.number) return undefined;
  try {
    const block = await ask(probed, blockRequest(toQuantity(number)));
    return block?.number === number ? block : undefined;
  } catch (error) {
    if (!(error instanceof FullmatchError)) throw error;
    return undefined;
  }
}
