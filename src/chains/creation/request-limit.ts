import { type RpcClient } from '../rpc/rpc-client.ts';

/** Thrown in place of the request that is one too many. It passes through everything that only endpoints fail by. */
export class RequestLimitReached extends Error {
  override readonly name = 'RequestLimitReached';
}

/** A client that asks at most so many questions; repeats of one question to one endpoint are one. */
export function limitRequests(rpc: RpcClient, maxRequests: number): RpcClient {
  let left = maxRequests;
  const spend = (): void => {
    if (left === 0) throw new RequestLimitReached(`more than ${maxRequests} requests`);
    left -= 1;
  };
  return {
    ...(rpc.preference && { preference: rpc.preference }),
    async ask(chain, endpoint, request, options) {
      spend();
      return rpc.ask(chain, endpoint, request, options);
    },
    async askAny(chain, request, options) {
      spend();
      return rpc.askAny(chain, request, options);
    },
  };
}
