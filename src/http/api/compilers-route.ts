import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';

import { respondJson, REVALIDATED } from '../answer.ts';
import { type HttpDependencies } from '../http-dependencies.ts';
import { jsonResponse } from '../json-response.ts';

const compilersSchema = z
  .strictObject({
    compilers: z
      .array(
        z.strictObject({
          compiler: z
            .enum(['solc', 'vyper', 'solar'])
            .describe('solc compiles Solidity and Yul, solar Solidity'),
          longVersion: z.string().meta({ example: '0.8.30+commit.73712a01' }),
          installed: z.boolean().describe('Whether it is available without a download'),
          checksum: z
            .enum(['catalogue', 'list'])
            .describe(
              'What the file is checked against: the catalogue of this service, or only the list in its folder',
            ),
        }),
      )
      .describe('solc before vyper before solar, newest first'),
  })
  .meta({ id: 'Compilers', description: 'The available versions' });

/** GET /v1/compilers. */
export const compilersRoute = createRoute({
  method: 'get',
  path: '/v1/compilers',
  summary: 'The compiler versions available for verification',
  description:
    'The installed versions and, if this service downloads compilers, every release of Solidity since 0.1.3 and of Vyper since 0.1.0-beta.16.',
  tags: ['Verify'],
  responses: {
    200: jsonResponse('The versions', compilersSchema),
  },
});

/** Adds {@link compilersRoute}. */
export function addCompilersRoute(
  routes: OpenAPIHono,
  { compilers }: Pick<HttpDependencies, 'compilers'>,
): void {
  routes.openapi(compilersRoute, async () => {
    const usable = await compilers.listUsable();
    const versions = usable.map(({ compiler, longVersion, isInstalled, isPinned }) => ({
      compiler,
      longVersion,
      installed: isInstalled,
      checksum: isPinned ? ('catalogue' as const) : ('list' as const),
    }));
    return respondJson(compilersRoute, { compilers: versions }, REVALIDATED);
  });
}
