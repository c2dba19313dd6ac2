import { readFileSync } from 'node:fs';

import { findChain } from '../../chains/registry/chain-reference.ts';
import { answerJson, NOT_STORED, REVALIDATED } from '../answer.ts';
import { answerSnapshot } from '../answer-snapshot.ts';
import { makeSnapshot, type Snapshot } from '../../publication/snapshot.ts';
import { addHealthRoutes } from '../health-routes.ts';
import { createHostApp, createRoutes, type HostApp } from '../host-app.ts';
import { currentSnapshot, type HttpParts } from '../http-parts.ts';
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
import { addBlockscoutRoutes } from './blockscout/add-blockscout-routes.ts';
import { blockscoutErrorShapes } from './blockscout/blockscout-error.ts';
import { batchRoutes, verdictRoutes } from './blockscout/blockscout-routes.ts';
import { addEtherscanRoutes } from './etherscan/add-etherscan-routes.ts';
import { etherscanErrorShape } from './etherscan/etherscan-error.ts';
import { etherscanRoutes } from './etherscan/etherscan-routes.ts';
import { addEvidenceRoutes } from './evidence/add-evidence-routes.ts';
import { addPageRedirects } from './page-redirects.ts';
import { addPageRoutes } from './pages/add-page-routes.ts';
import { addSourcesRoutes } from './sources/add-sources-routes.ts';
import { verifySourcesRoute } from './sources/sources-routes.ts';
import { addStatisticsRoutes } from './statistics/add-statistics-routes.ts';
import { addLookUpRoutes } from './v1/add-look-up-routes.ts';
import { v1ErrorShape } from './v1/v1-error.ts';
import { addV1VerifyRoutes } from './v1/add-verify-routes.ts';
import { v1VerifyRoutes } from './v1/verify-routes.ts';
import { addVerifyRoutes } from './v2/add-verify-routes.ts';
import { v2VerifyRoutes } from './v2/verify-routes.ts';
import { addContractRoutes } from './v2/add-contract-routes.ts';
import { v2ErrorShape } from './v2/v2-error.ts';

// The file lies beside src/ and beside dist/, so the same path holds for both.
const OPENAPI_DOCUMENT = new URL('../../../openapi.json', import.meta.url);

/** The API host: its routes at `/` and at the prefix. */
export function createApiApp(parts: HttpParts): HostApp {
  const routes = createRoutes();
  let openapi: Snapshot | undefined;
  const openapiMade = makeSnapshot(readFileSync(OPENAPI_DOCUMENT), new Date()).then(
    (snapshot) => (openapi = snapshot),
  );
  const version = {
    name: 'fullmatch' as const,
    version: parts.version,
    node: process.versions.node,
    ...(parts.schemaVersion === undefined ? {} : { schema: parts.schemaVersion }),
  };
  routes.openapi(chainsRoute, (c) =>
    answerSnapshot(currentSnapshot(parts.documents, 'chains'), c.req.raw.headers),
  );
  routes.openapi(chainRoute, (c) => {
    const { record } = findChain(parts.registry(), c.req.valid('param').ref);
    return answerJson(chainRoute, record, REVALIDATED);
  });
  routes.openapi(healthRoute, () => answerJson(healthRoute, parts.health(), NOT_STORED));
  routes.openapi(versionRoute, () => answerJson(versionRoute, version, REVALIDATED));
  routes.openapi(openapiRoute, async (c) => answerSnapshot(await openapiMade, c.req.raw.headers));
  routes.openapi(iconRoute, () => answerIcon());
  addChainRoutes(routes, parts);
  addChainHealthRoute(routes, parts);
  addChainMonitorRoute(routes, parts);
  addCompilersRoute(routes, parts);
  addContractRoutes(routes, parts);
  addVerifyRoutes(routes, parts);
  addLookUpRoutes(routes, parts);
  addV1VerifyRoutes(routes, parts);
  addSourcesRoutes(routes, parts);
  addEtherscanRoutes(routes, parts);
  addBlockscoutRoutes(routes, parts);
  addStatisticsRoutes(routes, parts);
  addEvidenceRoutes(routes, parts);
  addPageRedirects(routes);
  addHealthRoutes(routes, parts);
  const { version: fullmatch, urls, pages: bundle, answers } = parts;
  const ask: HostApp['request'] = (...asked) => app.request(...asked);
  const prefixes = [parts.apiPrefix].filter((prefix) => prefix.length > 1);
  const pages = { host: 'api', bundle, version: fullmatch, urls, prefixes, ask, answers } as const;
  const problemPages = addPageRoutes(routes, pages);
  const bodyLimits = Object.fromEntries(
    [
      ...[...v2VerifyRoutes, ...v1VerifyRoutes, verifySourcesRoute, ...etherscanRoutes],
      ...[...verdictRoutes, ...batchRoutes].map(({ route }) => route),
    ].map(({ path }) => [path, parts.verificationBytes]),
  );
  const prepared = {
    '/chains': () => parts.documents.current.chains,
    '/openapi.json': () => openapi,
  };
  const errorShapes = [
    ...blockscoutErrorShapes,
    ...[etherscanErrorShape, v2ErrorShape, v1ErrorShape],
  ];
  const app: HostApp = createHostApp(
    {
      routes,
      prefixes: [parts.apiPrefix],
      prepared,
      bodyLimits,
      errorShapes,
      problemPages,
      answers,
    },
    parts.log,
  );
  return app;
}
