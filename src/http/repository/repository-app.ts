import { respondJson, REVALIDATED } from '../answer.ts';
import { respondWithSnapshot } from '../snapshot-response.ts';
import { iconRoute } from '../api/api-routes.ts';
import { addHealthRoutes } from '../health-routes.ts';
import { createHostApp, createRoutes, type HostApp } from '../host-app.ts';
import { currentSnapshot, type HttpDependencies } from '../http-dependencies.ts';
import { answerIcon } from '../icon.ts';
import { addPageRoutes } from '../api/pages/add-page-routes.ts';
import { addContractTree, folderRoute } from './contract-tree.ts';
import { addParentFolders, parentFolderRoutes } from './parent-folders.ts';
import { manifestRoute, statisticsRoute } from './repository-routes.ts';

/** Creates the repository host: the statistics and the published tree. */
export function createRepositoryApp(parts: HttpDependencies): HostApp {
  const routes = createRoutes();
  routes.openapi(statisticsRoute, (c) =>
    respondWithSnapshot(currentSnapshot(parts.documents, 'statistics'), c.req.raw.headers),
  );
  routes.openapi(manifestRoute, () => {
    // Time of the last change, not of the response, so that replicas with the same content return the same.
    const { lastModified } = currentSnapshot(parts.documents, 'statistics');
    const manifest = {
      timestamp: lastModified.getTime(),
      dateString: lastModified.toISOString(),
      version: parts.version,
    };
    return respondJson(manifestRoute, manifest, REVALIDATED);
  });
  routes.openapi(iconRoute, () => answerIcon());
  const { version, urls, pages: bundle, answers } = parts;
  const problemPages = addPageRoutes(routes, {
    host: 'repository',
    bundle,
    version,
    urls,
    prefixes: [],
    shared: [...parentFolderRoutes.map(({ path }) => path), folderRoute.path],
    ask: (...parameters) => app.request(...parameters),
    answers,
  });
  addParentFolders(routes, parts);
  addContractTree(routes, parts);
  addHealthRoutes(routes, parts);
  const prepared = { '/stats.json': () => parts.documents.current.statistics };
  const app: HostApp = createHostApp({ routes, prefixes: [], prepared, problemPages }, parts.log);
  return app;
}
