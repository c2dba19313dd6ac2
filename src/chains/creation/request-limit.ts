import { type RpcClient } from '../rpc/rpc-client.ts';

/** Thrown instead of a request beyond the limit. It is not handled like the failure of an endpoint. */
export class RequestLimitReached extends Error {
  override readonly name = 'RequestLimitReached';
}

/** A client with a limited number of requests; retries of a request to the same endpoint count once. */
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
