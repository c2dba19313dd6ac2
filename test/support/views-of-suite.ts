import { IS_SLOW_SUITE } from './suite.ts';

/** One view per page: the others differ in their content. */
const ONE_OF_EACH = [
  ...['overview', 'chains', 'chain', 'contracts-found', 'search-found', 'statistics'],
  ...['contract-full', 'compare', 'verify', 'job-different', 'page-absent', 'repository', 'folder'],
];

/** The views for checks of all pages: one per page in the fast suite, every one in the slow one. */
export function viewsOfSuite(views: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(views).filter(([name]) => IS_SLOW_SUITE || ONE_OF_EACH.includes(name));
}
