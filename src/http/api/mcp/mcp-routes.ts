import { createRoute, z } from '@hono/zod-openapi';
import { problemResponse } from '../../problem-schema.ts';
import { overloadResponses } from '../../records/record-responses.ts';

const messageSchema = z.looseObject({ jsonrpc: z.literal('2.0') }).meta({
  id: 'McpMessage',
  description: 'A message of the Model Context Protocol (JSON-RPC 2.0)',
});

const content = { 'application/json': { schema: messageSchema } };

/** POST /mcp. */
export const mcpRoute = createRoute({
  method: 'post',
  path: '/mcp',
  summary: 'The Model Context Protocol: tools that read contracts, chains and counts',
  description:
    'Streamable HTTP without sessions. Off unless the operator enables it (`mcp.enabled`). `tools/list` lists the tools.',
  tags: ['Operations'],
  request: { body: { required: true, content: { 'application/json': { schema: messageSchema } } } },
  responses: {
    200: { description: 'The result', content },
    202: { description: 'The notification was accepted' },
    400: { description: 'Not exactly one protocol message', content },
    404: problemResponse('It is turned off (`route_not_found`)'),
    406: { description: 'The client does not accept both response types', content },
    413: problemResponse('The message is too large (`request_too_large`)'),
    415: { description: 'The body is not JSON', content },
    ...overloadResponses(problemResponse),
  },
});
