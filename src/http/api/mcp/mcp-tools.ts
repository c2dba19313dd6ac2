import { type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** Requests a path, relative to the root and with its query, from this service's public API. */
export type RequestApi = (
  path: string,
) => Promise<{ readonly status: number; readonly text: string }>;

const chainId = z.int().min(1).describe('The id of the chain, such as 1 for Ethereum Mainnet');
const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .describe('0x and 40 hexadecimal digits');
const words = z.string().min(1).max(200);
/** Fields of a contract as the API names them, without its sources, ABI and bytecode. */
const CONTRACT_FIELDS =
  'compilation.language,compilation.compilerVersion,compilation.compilerSettings,compilation.fullyQualifiedName,deployment';

/** Defines a read-only tool by its description and the API path that it requests. */
function tool<Shape extends z.ZodRawShape>(definition: {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject<Shape>;
  readonly path: (input: z.infer<z.ZodObject<Shape>>) => string;
  /** Selects the part of the response to return; absent means all of it. */
  readonly pick?: (body: unknown) => unknown;
}) {
  return definition;
}

const TOOLS = [
  tool({
    name: 'find_contract',
    title: 'Find verified contracts',
    description:
      'Finds verified contracts by address, name, code hash or creation transaction. What is not found is not verified here, which says nothing about the contract.',
    input: z.object({
      query: words.describe('An address, a name or a hash'),
      chainId: chainId.optional(),
    }),
    path: ({ query, chainId: chain }) => {
      const parameters = new URLSearchParams({ q: query, limit: '20' });
      if (chain !== undefined) parameters.set('chain', String(chain));
      return `/v1/contracts/search?${parameters.toString()}`;
    },
  }),
  tool({
    name: 'read_contract',
    title: 'Read what is known of a contract',
    description:
      'The match of a verified contract (exact_match is a full match, match a partial one), its compiler, settings and deployment; with `proxy` also what runs in its place, read from the chain now. `origin` imported is the claim of another service that was not checked here.',
    input: z.object({ chainId, address, proxy: z.boolean().optional() }),
    path: ({ proxy = false, ...at }) =>
      `/v2/contract/${at.chainId}/${at.address}?fields=${CONTRACT_FIELDS}${proxy ? ',proxyResolution' : ''}`,
  }),
  tool({
    name: 'read_sources',
    title: 'Read the sources of a contract',
    description:
      'The names of all sources with the texts of the first ones. With `path` the text of one source; with `after` (the `next` of an answer) more names.',
    input: z.object({
      chainId,
      address,
      path: z
        .string()
        .max(2_000)
        .optional()
        .describe('The name of a source, as an answer gives it'),
      after: z.string().max(2_000).optional(),
    }),
    path: ({ path, after, ...at }) => {
      const parameters = new URLSearchParams({
        ...(path !== undefined && { path }),
        ...(after !== undefined && { after }),
      });
      return `/v1/contracts/${at.chainId}/${at.address}/sources?${parameters.toString()}`;
    },
  }),
  tool({
    name: 'read_abi',
    title: 'Read the ABI of a contract',
    description: 'The ABI of a verified contract: its functions, events and errors.',
    input: z.object({ chainId, address }),
    path: (at) => `/v2/contract/${at.chainId}/${at.address}?fields=abi`,
    pick: (body) => (body as { readonly abi?: unknown }).abi ?? null,
  }),
  tool({
    name: 'find_chain',
    title: 'Find chains',
    description: 'Finds blockchain networks by name, short name or id, the likeliest first.',
    input: z.object({ query: words }),
    path: ({ query }) => {
      const fields = 'name,shortName,nativeCurrency,supported,monitored,infoURL';
      const parameters = new URLSearchParams({ q: query, order: 'relevance', limit: '10', fields });
      return `/v1/chains?${parameters.toString()}`;
    },
  }),
  tool({
    name: 'read_statistics',
    title: 'Read the counts',
    description: 'How many contracts are verified: in all, by chain, by origin and by compiler.',
    input: z.object({}),
    path: () => '/v1/statistics',
  }),
  tool({
    name: 'why_not_verified',
    title: 'Say why a verification failed',
    description:
      'The outcome of a verification job. A failure has `error` with a code and a message, and where sources do not match a diagnosis in `errorData.diagnosis`: another compiler, contract or setting that would match, or the line that differs.',
    input: z.object({ verificationId: z.uuid() }),
    path: ({ verificationId }) => `/v2/verify/${verificationId}`,
    // Drops the raw bytecode: the diagnosis is derived from it, and a reader of text cannot use it.
    pick: (body) => {
      const { error, ...job } = body as { readonly error?: Readonly<Record<string, unknown>> };
      if (error === undefined) return job;
      const shown = Object.fromEntries(
        Object.entries(error).filter(([key]) => !/^(?:onchain|recompiled)/.test(key)),
      );
      return { ...job, error: shown };
    },
  }),
] as const;

/** Registers the tools; they only read the public API. */
export function addTools(server: McpServer, ask: RequestApi): void {
  for (const each of TOOLS) {
    const { name, title, description, input, path } = each;
    const pick = 'pick' in each ? each.pick : undefined;
    const annotations = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
    server.registerTool(
      name,
      { title, description, inputSchema: input, annotations },
      async (args: unknown) => {
        const { status, text } = await ask((path as (args: unknown) => string)(args));
        const isError = status >= 400;
        const result =
          isError || pick === undefined ? text : JSON.stringify(pick(JSON.parse(text)));
        return { content: [{ type: 'text' as const, text: result }], ...(isError && { isError }) };
      },
    );
  }
}
