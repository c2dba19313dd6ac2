import { type ServerResponse } from 'node:http';
import { Secret } from '../../src/lib/secret.ts';
import { type Endpoint } from '../../src/chains/registry/registered-chain.ts';
import { startWebServer, type WebServer } from './web-server.ts';

/** Handler of a method: returns a result or a promise, or writes the response itself and returns undefined. */
export type RpcMethod = (
  params: readonly unknown[],
  response: ServerResponse,
  id: unknown,
) => unknown;

/** A test's JSON-RPC server, defined by its methods. */
export interface RpcServer extends WebServer {
  /** Methods by name; they may be replaced while it runs. */
  readonly methods: Record<string, RpcMethod>;
  /** Names of the called methods, in order. */
  readonly calls: string[];
}

/** Thrown by a method to return a JSON-RPC error object. */
export class RpcServerError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Starts a server on 127.0.0.1. A missing method returns error -32601. */
export async function startRpcServer(methods: Record<string, RpcMethod>): Promise<RpcServer> {
  const calls: string[] = [];
  const server = await startWebServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void answerTo(Buffer.concat(chunks).toString(), response));
  });
  const answerTo = async (body: string, response: ServerResponse): Promise<void> => {
    const call = JSON.parse(body) as {
      id: unknown;
      method: string;
      params: readonly unknown[];
    };
    calls.push(call.method);
    const answer: Record<string, unknown> = { jsonrpc: '2.0', id: call.id };
    try {
      const method = methods[call.method];
      if (method === undefined) throw new RpcServerError(-32_601, 'method not found');
      const result = await method(call.params, response, call.id);
      if (result === undefined) return;
      answer.result = result;
    } catch (error) {
      if (!(error instanceof RpcServerError)) throw error;
      answer.error = { code: error.code, message: error.message };
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  };
  return Object.assign(server, { methods, calls });
}

/** An endpoint that the service may contact. */
export function sampleEndpoint(url: string, label = new URL(url).host): Endpoint {
  return { url: new Secret(url), label, public: true };
}
