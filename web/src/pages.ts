import { matchTemplate, type Page, type PageRequest } from './page.ts';
import { contractPage } from './views/contract.tsx';
import { chainPage } from './views/chain.tsx';
import { chainsPage } from './views/chains.tsx';
import { countsPage } from './views/counts.tsx';
import { overviewPage } from './views/overview.tsx';
import { verifyPage } from './views/verify.tsx';
import { jobPage } from './views/job.tsx';
import { statisticsPage } from './views/statistics.tsx';

/** Every page of the API host. */
export const PAGES: readonly Page[] = [
  overviewPage,
  chainsPage,
  chainPage,
  countsPage,
  contractPage,
  verifyPage,
  jobPage,
  statisticsPage,
];

/** The page of a path, and what the path says; undefined where there is none. */
export function findPage(
  path: string,
  query: string,
): { readonly page: Page; readonly request: PageRequest } | undefined {
  for (const page of PAGES) {
    const params = matchTemplate(page.template, path);
    if (params !== undefined) return { page, request: { path, params, query } };
  }
  return undefined;
}
