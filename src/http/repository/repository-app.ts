import { type Answer, answerJson, REVALIDATED } from '../answer.ts';
import { answerSnapshot } from '../answer-snapshot.ts';
import { iconRoute } from '../api/api-routes.ts';
import { addHealthRoutes } from '../health-routes.ts';
import { createHostApp, createRoutes, type HostApp } from '../host-app.ts';
import { currentSnapshot, type HttpDependencies } from '../host-dependencies.ts';
import { answerPage, html } from '../html.ts';
import { answerIcon } from '../icon.ts';
import { addContractTree } from './contract-tree.ts';
import { manifestRoute, repositoryHomeRoute, statisticsRoute } from './repository-routes.ts';

/** The repository host: the statistics and the published tree. */
export function createRepositoryApp(deps: HttpDependencies): HostApp {
  const routes = createRoutes();
  routes.openapi(statisticsRoute, (c) =>
    answerSnapshot(currentSnapshot(deps.documents, 'statistics'), c.req.raw.headers),
  );
  routes.openapi(manifestRoute, () => {
    // The time of the last change, not of the answer: replicas that serve the same content say the same.
    const { lastModified } = currentSnapshot(deps.documents, 'statistics');
    const manifest = {
      timestamp: lastModified.getTime(),
      dateString: lastModified.toISOString(),
      version: deps.version,
    };
    return answerJson(manifest, REVALIDATED);
  });
  routes.openapi(repositoryHomeRoute, () => renderRepositoryHome(deps));
  routes.openapi(iconRoute, () => answerIcon());
  addContractTree(routes, deps);
  addHealthRoutes(routes, deps);
  const prepared = { '/stats.json': () => deps.documents.current.statistics };
  return createHostApp({ routes, prefixes: [], prepared }, deps.log);
}

function renderRepositoryHome(deps: HttpDependencies): Answer {
  const { api } = deps.urls();
  return answerPage({
    title: 'Fullmatch repository',
    base: './',
    lead: html`The repository host of a smart-contract verification service: the contracts whose
    sources match the code on chain.`,
    main: html`<h2>Documents</h2>
      <ul>
        <li>
          <a href="./stats.json">/stats.json</a>: verified contracts by chain, each counted once at
          its best match
        </li>
        <li>
          <a href="./manifest.json">/manifest.json</a>: the moment that the counts are true for
        </li>
        <li>
          <code>/contracts/full_match/1/0x…/</code> and
          <code>/contracts/partial_match/1/0x…/</code>: metadata and sources of a contract, by chain
          and address
        </li>
      </ul>
      <h2>The API host</h2>
      ${
        api === undefined
          ? html`<p>It is served by another process: it is switched off here.</p>`
          : html`<p>
              <a href="${api}">${api}</a> has the chains, the health report and the description of
              the whole HTTP interface.
            </p>`
      }`,
    footer: html`<p>fullmatch ${deps.version}</p>`,
  });
}
