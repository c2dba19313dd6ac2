import { readFileSync } from 'node:fs';

import { findChain } from '../../chains/registry/chain-reference.ts';
import { answer, respondJson, NOT_STORED, REVALIDATED, TEXT_TYPE } from '../answer.ts';
import { respondWithSnapshot } from '../snapshot-response.ts';
import { packageFile } from '../../lib/package-file.ts';
import { makeSnapshot, type Snapshot } from '../../publication/snapshot.ts';
import { addHealthRoutes } from '../health-routes.ts';
import { createHostApp, createRoutes, type HostApp } from '../host-app.ts';
import { currentSnapshot, type HttpDependencies } from '../http-dependencies.ts';
import { answerIcon } from '../icon.ts';
import {
  chainRoute,
  chainsRoute,
  healthRoute,
  iconRoute,
  openapiRoute,
  versionRoute,
} from './api-routes.ts';
import { addChainHealthRoute } from './chains/chain-health-route.ts';
import { addChainMonitorRoute } from './chains/chain-monitor-route.ts';
import { addChainRoutes } from './chains/add-chain-routes.ts';
import { addCompilersRoute } from './compilers-route.ts';
import { addBadge } from './badge/add-badge.ts';
import { addCards } from './card/add-cards.ts';
import { renderLlmsText } from './llms-text.ts';
import { addBlockscoutRoutes } from './blockscout/add-blockscout-routes.ts';
import { addBytecodeDatabase } from './blockscout/add-code-database.ts';
import { addExplorerApi } from './blockscout/explorer/add-explorer-api.ts';
import { submissionRoutes } from './blockscout/explorer/explorer-routes.ts';
import { addSignatureProvider } from './blockscout/add-signature-provider.ts';
import { addStoredVerifier } from './blockscout/add-stored-verifier.ts';
import { blockscoutErrorShapes } from './blockscout/blockscout-error.ts';
import { METHODS_BYTES } from './blockscout/methods-body.ts';
import {
  batchRoutes,
  methodsRoutes,
  storedRoutes,
  verdictRoutes,
} from './blockscout/blockscout-routes.ts';
import { addEtherscanAtRoot, addEtherscanRoutes } from './etherscan/add-etherscan-routes.ts';
import { etherscanErrorShape } from './etherscan/etherscan-error.ts';
import { etherscanRoutes } from './etherscan/etherscan-routes.ts';
import { addDownloads } from './downloads/add-downloads.ts';
import { addEvidenceRoutes } from './evidence/add-evidence-routes.ts';
import { addSignatureRoutes } from './signatures/add-signature-routes.ts';
import { signatureErrorShape } from './signatures/signature-error.ts';
import { importRoute } from './signatures/signature-routes.ts';
import { IMPORT_BYTES } from './signatures/signatures-body.ts';
import { REPOSITORY_URL } from '../repository/repository-routes.ts';
import { addJobDocument, jobDocumentRoute } from './job-document.ts';
import { addMcp, MCP_BYTES } from './mcp/add-mcp.ts';
import { mcpRoute } from './mcp/mcp-routes.ts';
import { addPageRedirects } from './page-redirects.ts';
import { addPageRoutes } from './pages/add-page-routes.ts';
import { addSourcesRoutes } from './sources/add-sources-routes.ts';
import { verifySourcesRoute } from './sources/sources-routes.ts';
import { addListing } from './unlisted/add-listing.ts';
import { addStatisticsRoutes } from './statistics/add-statistics-routes.ts';
import { addLookUpRoutes } from './v1/add-look-up-routes.ts';
import { v1ErrorShape } from './v1/v1-error.ts';
import { addV1VerifyRoutes } from './v1/add-verify-routes.ts';
import { v1VerifyRoutes } from './v1/verify-routes.ts';
import { addVerifyRoutes } from './v2/add-verify-routes.ts';
import { createExplorerImport } from './v2/explorer-import.ts';
import { v2VerifyRoutes } from './v2/verify-routes.ts';
import { addContractRoutes } from './v2/add-contract-routes.ts';
import { v2ErrorShape } from './v2/v2-error.ts';
import { addUpgradesRoute } from './upgrades/add-upgrades-route.ts';
import { addWithdrawnRoute } from './withdrawn/add-withdrawn-route.ts';

/** Creates the API host: its routes at `/` and at the prefix. */
export function createApiApp(parts: HttpDependencies): HostApp {
  const routes = createRoutes();
  let openapi: Snapshot | undefined;
  const openapiText = readFileSync(packageFile('openapi.json'), 'utf8');
  // Built on the first request: the hosts know their ports only once they listen.
  const makeOpenapi = async (): Promise<Snapshot> => {
    const text = openapiText.replaceAll(REPOSITORY_URL, parts.urls().repository ?? REPOSITORY_URL);
    return (openapi ??= await makeSnapshot(Buffer.from(text), new Date()));
  };
  const version = describeVersion(parts);
  routes.openapi(chainsRoute, (c) =>
    respondWithSnapshot(currentSnapshot(parts.documents, 'chains'), c.req.raw.headers),
  );
  routes.openapi(chainRoute, (c) => {
    const { record } = findChain(parts.registry(), c.req.valid('param').ref);
    return respondJson(chainRoute, record, REVALIDATED);
  });
  routes.openapi(healthRoute, () => respondJson(healthRoute, parts.health(), NOT_STORED));
  routes.openapi(versionRoute, () => respondJson(versionRoute, version, REVALIDATED));
  routes.openapi(openapiRoute, async (c) =>
    respondWithSnapshot(await makeOpenapi(), c.req.raw.headers),
  );
  routes.openapi(iconRoute, () => answerIcon());
  routes.get('/llms.txt', () =>
    answer(renderLlmsText(parts.urls()), { type: TEXT_TYPE, cacheControl: REVALIDATED }),
  );
  addChainRoutes(routes, parts);
  addChainHealthRoute(routes, parts);
  addChainMonitorRoute(routes, parts);
  addCompilersRoute(routes, parts);
  addContractRoutes(routes, parts);
  const findAtExplorer = createExplorerImport(parts);
  addVerifyRoutes(routes, { ...parts, findAtExplorer });
  addLookUpRoutes(routes, parts);
  addV1VerifyRoutes(routes, parts);
  addSourcesRoutes(routes, parts);
  addSignatureRoutes(routes, parts);
  addEtherscanRoutes(routes, parts);
  addBlockscoutRoutes(routes, parts);
  addExplorerApi(routes, parts);
  addStoredVerifier(routes, { ...parts, findAtExplorer });
  addSignatureProvider(routes, parts);
  addBytecodeDatabase(routes, parts);
  addStatisticsRoutes(routes, parts);
  addEvidenceRoutes(routes, parts);
  addWithdrawnRoute(routes, parts);
  addUpgradesRoute(routes, parts);
  addDownloads(routes, parts);
  addBadge(routes, parts);
  addCards(routes, parts);
  addPageRedirects(routes);
  addHealthRoutes(routes, parts);
  const { version: fullmatch, urls, pages: bundle, answers } = parts;
  const ask: HostApp['request'] = (...parameters) => app.request(...parameters);
  addEtherscanAtRoot(routes, ask);
  if (parts.isMcpEnabled) addMcp(routes, { ...parts, ask });
  if (parts.unlistedHost !== undefined) addListing(routes, parts, parts.unlistedHost);
  const prefixes = parts.apiPrefixes.filter((prefix) => prefix.length > 1);
  const { isUnlisted = false } = parts;
  const shared = [jobDocumentRoute.path];
  // Unlisted contracts are for holders of a token.
  const verify = isUnlisted && parts.access.verify === 'open' ? 'token' : parts.access.verify;
  const served = { host: 'api', bundle, version: fullmatch, verify, isUnlisted, shared } as const;
  // The contract page also shows proxy findings.
  const revision = isUnlisted
    ? undefined
    : (): number => parts.activity.revision + parts.proxies.findings;
  const pages = { ...served, urls, prefixes, ask, answers, ...(revision && { revision }) };
  const problemPages = addPageRoutes(routes, pages);
  // After the page at the same URL.
  addJobDocument(routes, parts);
  const prepared = {
    '/chains': () => parts.documents.current.chains,
    '/openapi.json': () => openapi,
  };
  const errorShapes = [
    ...blockscoutErrorShapes,
    ...[etherscanErrorShape, signatureErrorShape, v2ErrorShape, v1ErrorShape],
  ];
  const app: HostApp = createHostApp(
    {
      routes,
      prefixes: parts.apiPrefixes,
      prepared,
      bodyLimits: bodyLimitsOf(parts),
      errorShapes,
      problemPages,
    },
    parts.log,
  );
  return app;
}

function describeVersion({ version, access, schemaVersion }: HttpDependencies) {
  return {
    name: 'fullmatch' as const,
    version,
    node: process.versions.node,
    verify: access.verify,
    ...(schemaVersion === undefined ? {} : { schema: schemaVersion }),
  };
}

/** Body limits of the routes that do not use the listener's limit, by path. */
function bodyLimitsOf({ verificationBytes }: HttpDependencies): Readonly<Record<string, number>> {
  const bodyLimits = Object.fromEntries(
    [
      ...[...v2VerifyRoutes, ...v1VerifyRoutes, verifySourcesRoute, ...etherscanRoutes],
      ...[...verdictRoutes, ...batchRoutes, ...submissionRoutes].map(({ route }) => route),
      ...storedRoutes.map(({ verify }) => verify),
    ].map(({ path }) => [path, verificationBytes]),
  );
  bodyLimits[importRoute.path] = IMPORT_BYTES;
  bodyLimits[mcpRoute.path] = MCP_BYTES;
  for (const { path } of methodsRoutes) bodyLimits[path] = METHODS_BYTES;
  return bodyLimits;
}
