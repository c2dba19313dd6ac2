import { IS_SLOW_SUITE } from './suite.ts';

/** One view per page: the others differ in their content. */
const ONE_OF_EACH = [
  'overview',
  'chains',
  'chain',
  'contracts-found',
  'search-found',
  'statistics',
  'contract-full',
  'compare',
  'verify',
  'job-different',
  'page-absent',
  'repository',
  'folder',
];

/** Views whose parts are all in another view as well: they are not checked by keyboard and on paper. */
const REPEATED = [
  'chains-filtered',
  'chain-far',
  'chain-absent',
  'contracts',
  'contracts-none',
  'search-none',
  'contract-partial',
  'contract-absent',
  'contract-withdrawn-history',
  'contract-far',
  'contract-verified',
  'compare-absent',
  'folder-root',
  'folder-match',
  'folder-chain',
  'folder-absent',
  'file-absent',
];

/** The views for checks of all pages: one per page in the fast suite, every one in the slow one. */
export function viewsOfSuite(views: Readonly<Record<string, string>>): [string, string][] {
  const unknown = [...ONE_OF_EACH, ...REPEATED].filter((name) => !(name in views));
  // Without a node there are no jobs, and some views are missing.
  if ('job-verified' in views && unknown.length > 0)
    throw new Error(`There is no view ${unknown.join(', ')}.`);
  return Object.entries(views).filter(([name]) => IS_SLOW_SUITE || ONE_OF_EACH.includes(name));
}

/** Whether another view has all parts of this one. */
export const isRepeated = (name: string): boolean => REPEATED.includes(name);
