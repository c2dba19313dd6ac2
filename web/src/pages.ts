import { matchTemplate, type Page } from './page.ts';

/** Path of a page, and how its view is loaded: a browser loads only the view of its own page. */
interface PageEntry {
  /** `/contract/{chain}/{address}`; absent for a page that replaces another one. */
  readonly template?: string;
  /** Module name in `views/`, from which the service derives the files that the page needs. */
  readonly view: string;
  readonly load: () => Promise<{ readonly page: Page }>;
}

/** All pages of each host. */
export const PAGES: Readonly<Record<'api' | 'repository' | 'operator', readonly PageEntry[]>> = {
  api: [
    { template: '/', view: 'overview', load: () => import('./views/overview.tsx') },
    { template: '/registry', view: 'chains', load: () => import('./views/chains.tsx') },
    { template: '/registry/{ref}', view: 'chain', load: () => import('./views/chain.tsx') },
    { template: '/contracts', view: 'contracts', load: () => import('./views/contracts.tsx') },
    { template: '/search', view: 'search', load: () => import('./views/search.tsx') },
    { template: '/counts', view: 'counts', load: () => import('./views/counts.tsx') },
    {
      template: '/contract/{chain}/{address}',
      view: 'contract',
      load: () => import('./views/contract.tsx'),
    },
    {
      template: '/compare/{chain}/{address}',
      view: 'compare',
      load: () => import('./views/compare.tsx'),
    },
    { template: '/verify', view: 'verify', load: () => import('./views/verify.tsx') },
    { template: '/job/{id}', view: 'job', load: () => import('./views/job.tsx') },
    { template: '/statistics', view: 'statistics', load: () => import('./views/statistics.tsx') },
    { template: '/docs', view: 'docs', load: () => import('./views/docs.tsx') },
  ],
  repository: [
    { template: '/', view: 'repository', load: () => import('./views/repository.tsx') },
    ...['', '/{matchFolder}', '/{matchFolder}/{chainId}'].map((below) => ({
      template: `/contracts${below}`,
      view: 'parent-folder',
      load: () => import('./views/parent-folder.tsx'),
    })),
    {
      template: '/contracts/{matchFolder}/{chainId}/{address}',
      view: 'folder',
      load: () => import('./views/folder.tsx'),
    },
  ],
  operator: [{ template: '/', view: 'operator', load: () => import('./views/operator.tsx') }],
};

/** Replaces a missing page. */
export const NOT_FOUND: PageEntry = {
  view: 'not-found',
  load: () => import('./views/not-found.tsx'),
};

/** The page for a path on a host, and the parameters in the path; undefined if there is none. */
export function findPage(
  host: keyof typeof PAGES,
  path: string,
): { readonly entry: PageEntry; readonly params: Readonly<Record<string, string>> } | undefined {
  for (const entry of PAGES[host]) {
    const params = entry.template === undefined ? undefined : matchTemplate(entry.template, path);
    if (params !== undefined) return { entry, params };
  }
  return undefined;
}

/** Loads the page of a view; undefined for an unknown view. */
export async function loadView(view: string): Promise<Page | undefined> {
  const entries = [...PAGES.api, ...PAGES.repository, ...PAGES.operator, NOT_FOUND];
  return (await entries.find((each) => each.view === view)?.load())?.page;
}
