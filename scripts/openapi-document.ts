import { readFileSync } from 'node:fs';

import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';

import * as apiRoutes from '../src/http/api/api-routes.ts';
import { chainRoutes } from '../src/http/api/chains/chain-routes.ts';
import { chainHealthRoute } from '../src/http/api/chains/chain-health-route.ts';
import { chainMonitorRoute } from '../src/http/api/chains/chain-monitor-route.ts';
import { compilersRoute } from '../src/http/api/compilers-route.ts';
import {
  batchRoutes,
  methodsRoutes,
  blockscoutHealthRoute,
  verdictRoutes,
  versionsRoutes,
  storedRoutes,
} from '../src/http/api/blockscout/blockscout-routes.ts';
import { explorerApiRoutes } from '../src/http/api/blockscout/explorer/explorer-routes.ts';
import { bytecodeDatabaseRoutes } from '../src/http/api/blockscout/code-database-routes.ts';
import { providerRoutes } from '../src/http/api/blockscout/signature-provider-routes.ts';
import { etherscanRoutes } from '../src/http/api/etherscan/etherscan-routes.ts';
import { mcpRoute } from '../src/http/api/mcp/mcp-routes.ts';
import { listingRoute } from '../src/http/api/unlisted/listing-route.ts';
import { OPERATOR_URL, operatorRoutes } from '../src/http/operator/operator-routes.ts';
import { badgeRoute } from '../src/http/api/badge/badge-routes.ts';
import { cardRoute, contractCardRoute } from '../src/http/api/card/card-routes.ts';
import { downloadRoute } from '../src/http/api/downloads/downloads-routes.ts';
import { signatureRoutes } from '../src/http/api/signatures/signature-routes.ts';
import { jobDocumentRoute } from '../src/http/api/job-document.ts';
import { evidenceRoutes } from '../src/http/api/evidence/evidence-routes.ts';
import { contractPageRoute, jobPageRoute } from '../src/http/api/page-redirects.ts';
import { statisticsRoutes } from '../src/http/api/statistics/add-statistics-routes.ts';
import { eventDataSchemas } from '../src/http/api/statistics/statistics-routes.ts';
import { sourcesRoutes } from '../src/http/api/sources/sources-routes.ts';
import { v1LookUpRoutes } from '../src/http/api/v1/look-up-routes.ts';
import { v1VerifyRoutes } from '../src/http/api/v1/verify-routes.ts';
import { v2ContractRoutes } from '../src/http/api/v2/contract-routes.ts';
import { v2VerifyRoutes } from '../src/http/api/v2/verify-routes.ts';
import { upgradesRoute } from '../src/http/api/upgrades/upgrades-route.ts';
import { withdrawnRoute } from '../src/http/api/withdrawn/withdrawn-route.ts';
import { livenessRoute, readinessRoute } from '../src/http/health-routes.ts';
import { apiFileRoute, fileRoute, folderRoute } from '../src/http/repository/contract-tree.ts';
import { parentFolderRoutes } from '../src/http/repository/parent-folders.ts';
import * as repositoryRoutes from '../src/http/repository/repository-routes.ts';
import {
  STATISTICS_COMPONENT,
  statisticsJsonSchema,
} from '../src/http/repository/statistics-schema.ts';

/** The parts of an OpenAPI 3.1 document that scripts and tests read. */
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

Every path of the API host answers at / and at the configured prefix (/server by default), with and without a trailing slash; GET routes also accept HEAD, and OPTIONS answers preflights. Every response can be read by any origin. Errors are application/problem+json with a stable code, except in the verification APIs v2 and v1, the Etherscan API, the signature database and the Blockscout verifier, which have their own error formats; a client that prefers text/html gets a page.`;

/** Relative to the document, which is served at the root of the host or at its prefix. */
const API_SERVERS = [{ url: './', description: 'The API host' }];
const REPOSITORY_SERVERS = [
  { url: repositoryRoutes.REPOSITORY_URL, description: 'The repository host' },
];

/** Routes of the API host. */
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
  ...signatureRoutes,
  ...etherscanRoutes,
  ...explorerApiRoutes,
  // The same routes exist at the root for bases without a path; the document lists each once.
  ...[...verdictRoutes, ...batchRoutes, ...versionsRoutes]
    .map(({ route }): RouteConfig => route)
    .concat(
      methodsRoutes,
      storedRoutes.flatMap((each) => Object.values<RouteConfig>(each)),
      [...providerRoutes, ...bytecodeDatabaseRoutes].flatMap((each) =>
        Object.values<RouteConfig>(each),
      ),
    )
    .filter(({ path }) => path.startsWith('/blockscout/')),
  blockscoutHealthRoute,
  ...statisticsRoutes,
  ...evidenceRoutes,
  upgradesRoute,
  withdrawnRoute,
  jobDocumentRoute,
  downloadRoute,
  badgeRoute,
  contractCardRoute,
  cardRoute,
  mcpRoute,
  listingRoute,
  contractPageRoute,
  jobPageRoute,
  apiRoutes.healthRoute,
  livenessRoute,
  readinessRoute,
  apiRoutes.versionRoute,
  apiRoutes.openapiRoute,
  apiRoutes.docsRoute,
];
/** Routes of the repository host except /, /healthz and /readyz: the document has one entry per path. */
export const REPOSITORY_ROUTES: readonly RouteConfig[] = [
  repositoryRoutes.statisticsRoute,
  repositoryRoutes.manifestRoute,
  ...parentFolderRoutes,
  folderRoute,
  fileRoute,
];

/** Routes of the operator's page, which listens only on the service's own machine. */
export const OPERATOR_ROUTES: readonly RouteConfig[] = operatorRoutes;

/** Builds the OpenAPI 3.1 document of both hosts from the schemas of their routes. */
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
  for (const route of OPERATOR_ROUTES) {
    const servers = [{ url: OPERATOR_URL, description: 'The operator’s page' }];
    app.openAPIRegistry.registerPath({ ...route, servers });
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
      { name: 'Documents', description: 'The two published documents, whose form is frozen' },
      { name: 'Chains', description: 'The registry of networks and their health' },
      { name: 'Contracts', description: 'Verified contracts and their evidence' },
      { name: 'Verify', description: 'Submitting sources and following the verification' },
      { name: 'Statistics', description: 'Current counts and history' },
      { name: 'Events', description: 'Matches and changes as they happen' },
      { name: 'Operations', description: 'The service itself, for operators' },
      { name: 'Repository', description: 'The published file tree' },
      { name: 'Signatures', description: 'Functions, events and errors by their hashes' },
      {
        name: 'Etherscan protocol',
        description: 'Verification and lookups for tools that use block explorer APIs',
      },
      {
        name: 'Blockscout API',
        description: 'Verification and lookups for tools that use the Blockscout APIs',
      },
    ],
  });
  // The generator's types allow references everywhere; the registered routes use none here. It adds empty
  // `parameters` and `webhooks`, which are removed.
  return {
    openapi,
    info,
    servers,
    tags,
    paths: withExamples(paths),
    components: { schemas: components?.schemas },
  } as unknown as OpenapiDocument;
}

/** A request with its response, written and checked by test/api-examples.test.ts. */
interface ApiExample {
  readonly request: string;
  readonly status: number;
  readonly type: string;
  readonly answer: string;
}

/** Adds an example to each operation. Runs only in a checkout, which contains the examples. */
function withExamples(paths: object | undefined): object {
  const file = new URL('api-examples.json', import.meta.url);
  const examples = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, ApiExample>>;
  return Object.fromEntries(
    Object.entries(paths ?? {}).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations as object).map(([method, operation]) => {
          const example = examples[`${method.toUpperCase()} ${path}`];
          return [method, { ...(operation as object), ...(example && { 'x-example': example }) }];
        }),
      ),
    ]),
  );
}

/** Renders the document as text: the committed openapi.json and the body of GET /openapi.json. */
export function renderOpenapiDocument(document: OpenapiDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
