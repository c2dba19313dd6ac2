import { type McpServer } from '@modelcontextprotocol/server';
import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';
import { Admission } from '../../../lib/admission.ts';
import { BASE_HEADERS, makeResponse, NOT_STORED } from '../../answer.ts';
import { type HostApp } from '../../host-app.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { mcpRoute } from './mcp-routes.ts';
import { addTools } from './mcp-tools.ts';

/** Requests are small: a tool name and a few arguments. */
export const MCP_BYTES = 65_536;
const QUESTIONS = { total: 8, perClient: 5, waiting: 256, waitingPerClient: 64 };
/** JSON-RPC 2.0: "Invalid Request". */
const INVALID_REQUEST = -32_600;

/** Dependencies of the tools. */
interface McpParts extends Pick<HttpDependencies, 'answers' | 'version'> {
  readonly ask: HostApp['request'];
}

/**
 * Adds the Model Context Protocol over streamable HTTP. It uses the official SDK, which is loaded on the
 * first request. Requests are stateless: there are no sessions and no long-lived streams. The tools return
 * only public data, so no `Origin` is refused.
 */
export function addMcp(routes: OpenAPIHono, parts: McpParts): void {
  const questions = new Admission(QUESTIONS);
  // The SDK validates the message.
  routes.openapi({ ...mcpRoute, request: {} }, async (c) => {
    // Read the body before admission, so that a slow upload does not occupy a slot.
    const request = await readWhole(c.req.raw);
    const answered = await parts.answers.admit(
      c,
      async () => (request === undefined ? refuseBatch() : answerMessage(parts, c, request)),
      questions,
    );
    const bytes = Buffer.from(await answered.arrayBuffer());
    const type = answered.headers.get('content-type');
    return makeResponse(bytes, {
      status: answered.status,
      headers: {
        ...BASE_HEADERS,
        'cache-control': NOT_STORED,
        'content-length': String(bytes.byteLength),
        ...(type !== null && { 'content-type': type }),
      },
    });
  });
}

/**
 * Reads a request with its message; returns undefined for a batch. Batches are not part of the protocol since
 * 2025-06-18: a hundred calls would occupy one slot, and a call cancelled in the same batch would never get a
 * response.
 */
async function readWhole(request: Request): Promise<Request | undefined> {
  const body = await request.text();
  if (body.trimStart().startsWith('[')) return undefined;
  return new Request(request.url, { method: 'POST', headers: request.headers, body });
}

function refuseBatch(): Response {
  const message = 'A request holds one message, and no batch';
  return Response.json(
    { jsonrpc: '2.0', id: null, error: { code: INVALID_REQUEST, message } },
    { status: 400 },
  );
}

/** Answers with the 2026 protocol or an earlier one, depending on the message. */
async function answerMessage(
  { ask, answers, version }: McpParts,
  c: Context,
  request: Request,
): Promise<Response> {
  const sdk = await import('@modelcontextprotocol/server');
  const asked = { askedFor: answers.clientOf(c) };
  const open = (): McpServer => {
    const server = new sdk.McpServer({ name: 'fullmatch', title: 'Fullmatch', version });
    addTools(server, async (path) => {
      const response = await ask(path, {}, asked);
      return { status: response.status, text: await response.text() };
    });
    return server;
  };
  if (await sdk.isLegacyRequest(request, undefined, { maxRequestBodySize: MCP_BYTES })) {
    const server = open();
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      ...{ enableJsonResponse: true, maxRequestBodySize: MCP_BYTES },
    });
    await server.connect(transport);
    return transport.handleRequest(request);
  }
  const handler = sdk.createMcpHandler(open, {
    ...{ legacy: 'reject', maxRequestBodySize: MCP_BYTES, maxSubscriptions: 0, keepAliveMs: 0 },
  });
  return handler.fetch(request);
}
