import { isUtf8 } from 'node:buffer';
import { isMembers } from '../../lib/members.ts';
import { parseUntrustedJson } from '../../lib/untrusted-json.ts';

/** Response of an endpoint to one call: a result of unknown shape, or an error object. */
type RpcAnswer =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly errorCode: number; readonly throttled: boolean };

/** JSON-RPC error codes for exceeded request limits: EIP-1474's, and the HTTP status. */
const LIMIT_CODES: ReadonlySet<number> = new Set([-32005, 429]);
const LIMIT_WORDS = /rate.?limit|too many requests|limit exceeded|capacity|quota/i;

/** Maximum bytes of any response that is read. */
export const ANSWER_MAX_BYTES = 8_000_000;

/**
 * Responses are parsed on the serving thread, so their content is bounded. A trace of a transaction with
 * 5,000 calls is within the limits, and so are calls nested up to the EVM's limit of 1,024. Responses contain
 * hex, which needs no escapes.
 */
const ANSWER_LIMITS = { values: 100_000, depth: 2500, escapes: 50_000 };

/** Body of a JSON-RPC 2.0 call (https://www.jsonrpc.org/specification). */
export function encodeRpcCall(id: number, method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

function readError(error: unknown): RpcAnswer | undefined {
  if (!isMembers(error) || typeof error.code !== 'number') return undefined;
  const message = typeof error.message === 'string' ? error.message.slice(0, 1000) : '';
  const throttled = LIMIT_CODES.has(error.code) || LIMIT_WORDS.test(message);
  return { kind: 'error', errorCode: error.code, throttled };
}

/**
 * The response in a body to the call with this id, or undefined if the body is anything else: not UTF-8, not
 * JSON, a batch, more values than a response may have, another version or id, both result and error or
 * neither. The text of an error is classified and then dropped: endpoints repeat keys in it.
 */
export function decodeRpcAnswer(body: Uint8Array, id: number): RpcAnswer | undefined {
  let answer: unknown;
  if (!isUtf8(body)) return undefined;
  try {
    answer = parseUntrustedJson(body, ANSWER_LIMITS);
  } catch {
    return undefined;
  }
  if (!isMembers(answer) || answer.jsonrpc !== '2.0' || answer.id !== id) return undefined;
  const hasError = answer.error !== undefined && answer.error !== null;
  if (hasError)
    return answer.result === undefined || answer.result === null
      ? readError(answer.error)
      : undefined;
  return 'result' in answer ? { kind: 'result', result: answer.result } : undefined;
}
