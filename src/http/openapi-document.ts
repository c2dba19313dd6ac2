import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';

import * as apiRoutes from './api/api-routes.ts';
import { chainRoutes } from './api/chains/chain-routes.ts';
import { chainHealthRoute } from './api/chains/chain-health-route.ts';
import { chainMonitorRoute } from './api/chains/chain-monitor-route.ts';
import { compilersRoute } from './api/compilers-route.ts';
import {
  batchRoutes,
  blockscoutHealthRoute,
  verdictRoutes,
  versionsRoutes,
} from './api/blockscout/blockscout-routes.ts';
import { etherscanRoutes } from './api/etherscan/etherscan-routes.ts';
import { evidenceRoutes } from './api/evidence/evidence-routes.ts';
import { contractPageRoute, jobPageRoute } from './api/page-redirects.ts';
import { statisticsRoutes } from './api/statistics/add-statistics-routes.ts';
import { eventDataSchemas } from './api/statistics/statistics-routes.ts';
import { sourcesRoutes } from './api/sources/sources-routes.ts';
import { v1LookUpRoutes } from './api/v1/look-up-routes.ts';
import { v1VerifyRoutes } from './api/v1/verify-routes.ts';
import { v2ContractRoutes } from './api/v2/contract-routes.ts';
import { v2VerifyRoutes } from './api/v2/verify-routes.ts';
import { livenessRoute, readinessRoute } from './health-routes.ts';
import { apiFileRoute, fileRoute, folderRoute } from './repository/contract-tree.ts';
import * as repositoryRoutes from './repository/repository-routes.ts';
import { STATISTICS_COMPONENT, statisticsJsonSchema } from './repository/statistics-schema.ts';

/** The parts of an OpenAPI 3.1 document that scripts and tests read back. */
export interface OpenapiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenapiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** An operation of an {@link OpenapiDocument}. */
interface OpenapiOperation {
  readonly responses: Readonly<
    Record<
      string,
      { readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>> }
    >
  >;
}

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const DESCRIPTION = `The API of a Fullmatch service. GET /chains and GET /stats.json are its published documents: their paths, shapes and types never change.

Every path of the API host answers at / and at the configured prefix (/server by default), with and without a trailing slash; GET also answers HEAD, and OPTIONS answers preflights. Every answer may be read by any origin. Every error is application/problem+json with a stable code, but for the verification APIs v2 and v1, the Etherscan protocol and the verifier of Blockscout, which have shapes of their own; a client that prefers text/html gets a page where nothing is found.`;

const API_SERVERS = [
  { url: 'http://localhost:5555', description: 'The API host' },
  { url: 'http://localhost:5555/server', description: 'The API host at its prefix' },
];
const REPOSITORY_SERVERS = [{ url: 'http://localhost:10000', description: 'The repository host' }];

/** What the API host answers. */
export const API_ROUTES: readonly RouteConfig[] = [
  apiRoutes.chainsRoute,
  apiRoutes.chainRoute,
  ...chainRoutes,
  chainHealthRoute,
  chainMonitorRoute,
  compilersRoute,
  ...v2VerifyRoutes,
  ...v2ContractRoutes,
  ...v1VerifyRoutes,
  ...sourcesRoutes,
  ...v1LookUpRoutes,
  apiFileRoute,
  ...etherscanRoutes,
  // The same routes at the root are for bases without a path: the document has each once.
  ...[...verdictRoutes, ...batchRoutes, ...versionsRoutes]
    .map(({ route }) => route)
    .filter(({ path }) => path.startsWith('/blockscout/')),
  blockscoutHealthRoute,
  ...statisticsRoutes,
  ...evidenceRoutes,
  contractPageRoute,
  jobPageRoute,
  apiRoutes.healthRoute,
  livenessRoute,
  readinessRoute,
  apiRoutes.versionRoute,
  apiRoutes.openapiRoute,
  apiRoutes.docsRoute,
];
/** What the repository host answers besides /, /healthz and /readyz: a document has one entry for each path. */
export const REPOSITORY_ROUTES: readonly RouteConfig[] = [
  repositoryRoutes.statisticsRoute,
  repositoryRoutes.manifestRoute,
  folderRoute,
  fileRoute,
];

/** The OpenAPI 3.1 document of both hosts, from the schemas of their routes. */
export function buildOpenapiDocument(version: string): OpenapiDocument {
  const app = new OpenAPIHono();
  app.openAPIRegistry.registerComponent('schemas', STATISTICS_COMPONENT, {
    ...statisticsJsonSchema,
    $schema: undefined,
  });
  for (const schema of Object.values(eventDataSchemas)) {
    app.openAPIRegistry.register(schema.meta()?.id ?? '', schema);
  }
  for (const route of API_ROUTES) app.openAPIRegistry.registerPath(route);
  for (const route of REPOSITORY_ROUTES) {
    app.openAPIRegistry.registerPath({ ...route, servers: REPOSITORY_SERVERS });
  }
  const { openapi, info, servers, tags, paths, components } = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Fullmatch',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT' },
    },
    servers: API_SERVERS,
    tags: [
      { name: 'documents', description: 'The published documents' },
      { name: 'chains', description: 'The chain registry' },
      { name: 'verification', description: 'Verification of contracts' },
      { name: 'contracts', description: 'Verified contracts' },
      {
        name: 'Etherscan protocol',
        description: 'Verification and look-ups for tools that speak to block explorers',
      },
      { name: 'statistics', description: 'Counts over time, and events' },
      { name: 'repository', description: 'The published tree' },
      { name: 'service', description: 'The service itself' },
    ],
  });
  // The generator's types allow references in every place; the registered routes put none there. It leaves empty
  // `parameters` and `webhooks`, which say nothing.
  return {
    openapi,
    info,
    servers,
    tags,
    paths,
    components: { schemas: components?.schemas },
  } as unknown as OpenapiDocument;
}

/** The text of the document: the committed openapi.json and the body of GET /openapi.json. */
export function renderOpenapiDocument(document: OpenapiDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
