import { matchTemplate, type Page, type PageRequest } from './page.ts';

/** Where a page stands, and how its view is loaded: a browser loads the view of its own page only. */
interface PageEntry {
  /** `/contract/{chain}/{address}`. */
  readonly template: string;
  /** The name of the module in `views/`, from which the service knows the files that the page needs. */
  readonly view: string;
  readonly load: () => Promise<{ readonly page: Page }>;
}

/** Every page of the API host. */
export const PAGES: readonly PageEntry[] = [
  { template: '/', view: 'overview', load: () => import('./views/overview.tsx') },
  { template: '/registry', view: 'chains', load: () => import('./views/chains.tsx') },
  { template: '/registry/{ref}', view: 'chain', load: () => import('./views/chain.tsx') },
  { template: '/contracts', view: 'contracts', load: () => import('./views/contracts.tsx') },
  { template: '/counts', view: 'counts', load: () => import('./views/counts.tsx') },
  {
    template: '/contract/{chain}/{address}',
    view: 'contract',
    load: () => import('./views/contract.tsx'),
  },
  { template: '/verify', view: 'verify', load: () => import('./views/verify.tsx') },
  { template: '/job/{id}', view: 'job', load: () => import('./views/job.tsx') },
  { template: '/statistics', view: 'statistics', load: () => import('./views/statistics.tsx') },
];

/** The page of a path with its view, and what the path says; undefined where there is none. */
export async function findPage(
  path: string,
  query: string,
): Promise<
  { readonly view: string; readonly page: Page; readonly request: PageRequest } | undefined
> {
  for (const { template, view, load } of PAGES) {
    const params = matchTemplate(template, path);
    if (params === undefined) continue;
    const { page } = await load();
    return { view, page, request: { path, params, query } };
  }
  return undefined;
}
