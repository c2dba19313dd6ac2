import { type BadEntry, type BadEntryKind, writeBadEntry } from './bad-entries.ts';
import { exampleAddress, type ExampleTreeOptions, writeExampleTree } from './example-tree.ts';

/** Expected `stats.json` after importing the tree into an empty database, and the expected rejections. */
export interface ShowTree {
  readonly counts: Readonly<Record<string, { full_match: number; partial_match: number }>>;
  readonly refused: readonly BadEntry[];
}

const LARGE_CHAIN = 2_716_446_429_837_000;
const BAD_KINDS: readonly BadEntryKind[] = [
  'leading_zero_chain',
  'wrong_checksum',
  'broken_metadata',
  'changed_source',
  'source_is_symlink',
  'huge_source',
];

/**
 * A small tree to demonstrate an import: a chain with both matches, a chain with only partial matches, a
 * chain id above 2^32, an address in both trees, and invalid entries of six kinds.
 */
export async function writeShowTree(
  folder: string,
  layout: ExampleTreeOptions['layout'] = 'v1',
): Promise<ShowTree> {
  const both = exampleAddress(1);
  await writeExampleTree(folder, {
    layout,
    contracts: [
      { chainId: 1, match: 'full' },
      { chainId: 1, match: 'full', address: both },
      { chainId: 1, match: 'partial', address: both },
      { chainId: 1, match: 'partial' },
      { chainId: 10, match: 'partial' },
      { chainId: 10, match: 'partial' },
      { chainId: LARGE_CHAIN, match: 'full' },
    ],
  });
  const refused: BadEntry[] = [];
  for (const kind of BAD_KINDS) refused.push(await writeBadEntry(folder, kind));
  return {
    counts: {
      1: { full_match: 2, partial_match: 1 },
      10: { full_match: 0, partial_match: 2 },
      [LARGE_CHAIN]: { full_match: 1, partial_match: 0 },
    },
    refused,
  };
}
