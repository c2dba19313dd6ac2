import { type Answer, answerJson, REVALIDATED } from '../answer.ts';
import { answerSnapshot } from '../answer-snapshot.ts';
import { iconRoute } from '../api/api-routes.ts';
import { addHealthRoutes } from '../health-routes.ts';
import { createHostApp, createRoutes, type HostApp } from '../host-app.ts';
import { currentSnapshot, type HttpDependencies } from '../host-dependencies.ts';
import { answerPage, type Html, html } from '../html.ts';
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
    lead: html`The repository host of a smart-contract verification service: the published files of
    the contracts whose sources match the code on chain.`,
    main: html`<h2>What it serves</h2>
      <ul>
        <li>
          <a href="./stats.json">/stats.json</a>: verified contracts by chain, each counted once at
          its best match
        </li>
        <li>
          <a href="./manifest.json">/manifest.json</a>: the moment that the counts are true for
        </li>
        <li>
          <code>/contracts/full_match/{chain}/{address}/</code> and
          <code>/contracts/partial_match/{chain}/{address}/</code>: the files of a contract, which
          are its metadata and its sources
        </li>
      </ul>
      <h2>Pages</h2>
      ${api === undefined ? html`<p>The host of the pages is switched off here.</p>` : renderPages(api)}`,
    footer: html`<p>fullmatch ${deps.version}</p>`,
  });
}

function renderPages(api: string): Html {
  const pages = [
    ['', 'Overview', 'what is verified here, and how the service is'],
    ['contracts', 'Contracts', 'find one by its address or name, and read its sources'],
    ['registry', 'Chains', 'every chain that the service knows'],
    ['statistics', 'Statistics', 'the counts over time'],
    ['verify', 'Verify', 'bring the sources of a contract'],
    ['counts', 'How counts are made', 'what a full and a partial match say'],
    ['docs', 'HTTP interface', 'everything that both hosts answer, for programs'],
  ] as const;
  const lines = pages.map(
    ([path, name, about]) => html`<li><a href="${api}/${path}">${name}</a>: ${about}</li>`,
  );
  return html`<ul>
    ${lines}
  </ul>`;
}
