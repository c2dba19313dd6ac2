import { type Anvil } from './anvil.ts';
import { type WebServer, startWebServer } from './web-server.ts';

/** Changes that a test node makes to the responses of the node behind it. */
export interface NodeFilter {
  /** Unsupported methods: error -32601. */
  readonly hides?: readonly string[];
  /** Returns the replacement response, possibly as a promise; an `Error` becomes an error object. */
  readonly changes?: (method: string, params: readonly unknown[], result: unknown) => unknown;
}

/** A node in front of another one. */
export interface FilteringNode extends WebServer {
  /** Names of the called methods, in order. */
  readonly calls: string[];
  /** May be replaced while it runs. */
  filter: NodeFilter;
}

const TRACES = [
  'debug_traceTransaction',
  'trace_transaction',
  'trace_block',
  'debug_traceBlockByNumber',
  'debug_traceBlockByHash',
  'ots_getContractCreator',
];
const KEPT_STATES = 128;
const STATE_METHODS = ['eth_getCode', 'eth_getTransactionCount', 'eth_call'];

/** Data that geth keeps by default: no traces, and the states of the newest 128 blocks. */
export function prunedNode({ request }: Anvil): NodeFilter {
  const changes = async (
    method: string,
    params: readonly unknown[],
    result: unknown,
  ): Promise<unknown> => {
    const at = params[1] as string | { readonly blockHash: string } | undefined;
    if (!STATE_METHODS.includes(method) || at === undefined || at === 'latest') return result;
    const number =
      typeof at === 'string'
        ? at
        : (await request<{ number: string }>('eth_getBlockByHash', [at.blockHash, false])).number;
    const head = await request<string>('eth_blockNumber');
    return Number(number) > Number(head) - KEPT_STATES ? result : new Error('missing trie node');
  };
  return { hides: TRACES, changes };
}

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Starts a node on an address of this machine that forwards to the node at `url` and filters its responses. */
export async function startFilteringNode(
  url: string,
  filter: NodeFilter = {},
  host = '127.0.0.1',
): Promise<FilteringNode> {
  const calls: string[] = [];
  const answer = async ({ id, method, params }: Call): Promise<object> => {
    const { hides = [], changes } = node.filter;
    const envelope = { jsonrpc: '2.0', id };
    if (hides.includes(method)) {
      return { ...envelope, error: { code: -32_601, message: 'method not found' } };
    }
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...envelope, method, params }),
    });
    const given = (await response.json()) as { readonly result?: unknown };
    if (changes === undefined) return given;
    const changed = await changes(method, params, given.result);
    if (changed instanceof Error) {
      return { ...envelope, error: { code: -32_000, message: changed.message } };
    }
    return changed === given.result ? given : { ...envelope, result: changed };
  };
  const server = await startWebServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const call = JSON.parse(Buffer.concat(chunks).toString()) as Call;
      calls.push(call.method);
      answer(call).then(
        (body) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(body));
        },
        () => response.destroy(),
      );
    });
  }, host);
  const node: FilteringNode = Object.assign(server, { calls, filter });
  return node;
}
