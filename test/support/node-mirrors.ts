import { type Anvil } from './anvil.ts';
import { type RpcMethod, RpcServerError } from './rpc-server.ts';

const MIRRORED = [
  'eth_getBlockByNumber',
  'eth_getBlockByHash',
  'eth_getCode',
  'eth_syncing',
  'eth_getTransactionReceipt',
  'eth_getTransactionByHash',
  'debug_traceTransaction',
  'trace_transaction',
];

/** The methods of an endpoint that responds like a node but reports another chain id. */
export function mirrorOf(anvil: Anvil, chainId: number): Record<string, RpcMethod> {
  const mirrored = MIRRORED.map((name): [string, RpcMethod] => [
    name,
    (params) =>
      anvil.request<unknown>(name, params).catch((error: unknown) => {
        throw new RpcServerError(-32_000, String(error));
      }),
  ]);
  return {
    ...Object.fromEntries(mirrored),
    eth_chainId: () => `0x${chainId.toString(16)}`,
  };
}
