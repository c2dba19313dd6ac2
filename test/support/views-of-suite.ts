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

/** Views with parts that no view in {@link ONE_OF_EACH} has. */
const OTHER_PARTS = [
  ...[
    'chains-none',
    'contracts-malformed',
    'contract-abi',
    'contract-downloads',
    'contract-history',
  ],
  ...[
    'contract-found',
    'contract-deceiving',
    'contract-withdrawn',
    'contract-proof',
    'job-verified',
  ],
  ...['job-broken', 'counts', 'docs'],
];

/** Whether the slow suite checks the view by keyboard, in forced colours and on paper: other views repeat its parts. */
export function hasOwnParts(view: string): boolean {
  return IS_SLOW_SUITE && [...ONE_OF_EACH, ...OTHER_PARTS].includes(view);
}
