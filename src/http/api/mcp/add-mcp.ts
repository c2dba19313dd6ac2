import { type McpServer } from '@modelcontextprotocol/server';
import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';
import { Admission } from '../../../lib/admission.ts';
import { BASE_HEADERS, makeAnswer, NOT_STORED } from '../../answer.ts';
import { type HostApp } from '../../host-app.ts';
import { type HttpParts } from '../../http-parts.ts';
import { mcpRoute } from './mcp-routes.ts';
import { addTools } from './mcp-tools.ts';

/** A question names a tool and some words. */
export const MCP_BYTES = 65_536;
const QUESTIONS = { total: 8, perClient: 5, waiting: 256, waitingPerClient: 64 };
/** JSON-RPC 2.0: the request is not one that the server takes. */
const INVALID_REQUEST = -32_600;

/** What the tools need: whom they ask, and for which client. */
interface McpParts extends Pick<HttpParts, 'answers' | 'version'> {
  readonly ask: HostApp['request'];
}

/**
 * The Model Context Protocol over streamable HTTP, by the protocol's own SDK, which is loaded with the first question. Every
 * question stands alone: there are no sessions, and no streams that stay open. The tools read what the public API says to
 * everybody, so that no `Origin` is refused.
 */
export function addMcp(routes: OpenAPIHono, parts: McpParts): void {
  const questions = new Admission(QUESTIONS);
  // The SDK judges the message.
  routes.openapi({ ...mcpRoute, request: {} }, async (c) => {
    // Whoever sends it slowly keeps no place.
    const request = await readWhole(c.req.raw);
    const answered = await parts.answers.admit(
      c,
      async () => (request === undefined ? refuseBatch() : answerMessage(parts, c, request)),
      questions,
    );
    const bytes = Buffer.from(await answered.arrayBuffer());
    const type = answered.headers.get('content-type');
    return makeAnswer(bytes, {
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
 * A request with its message; undefined where it has several. Batches are no part of the protocol since 2025-06-18: a hundred
 * calls would take the place of one, and a call that is cancelled beside it would never be answered.
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

/** By the protocol of 2026, or by those before, as the message says. */
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
