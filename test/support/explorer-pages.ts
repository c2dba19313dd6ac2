import { checksumAddress, type Hex } from '../../src/lib/hex.ts';
import { readCases } from './shared-data.ts';

/** An explorer page in the format of a service entry from 2023. */
export interface ExplorerSample {
  readonly explorer: string;
  readonly contractFetchAddress: string;
  /** Absent if the explorer returns JSON and the entry has no pattern. */
  readonly txRegex?: string;
  /** Text with {ADDRESS}, {HASH} for the creation transaction and {OTHER} for another one. */
  readonly page: string;
}

/** One explorer of each kind, and every pattern in the service entries of 2023. */
export const EXPLORER_SAMPLES = readCases<ExplorerSample>('explorer-samples.json');

/** Another transaction on the pages, besides the creation. */
const OTHER_HASH: Hex = `0x${'07'.repeat(32)}`;

/** The page of an explorer about a contract. */
export function fillPage({ page }: ExplorerSample, address: Hex, hash: Hex): string {
  return page
    .replaceAll('{ADDRESS}', checksumAddress(address))
    .replaceAll('{HASH}', hash)
    .replaceAll('{OTHER}', OTHER_HASH);
}

/** The maximum page length that is read, in bytes. */
export const HOSTILE_PAGE_CHARACTERS = 1_000_000;

/** Text that a pattern of {@link EXPLORER_SAMPLES} requires before and after its group. */
function surroundingsOf(txRegex: string): readonly [string, string] {
  const [before = '', after = ''] = txRegex
    .replaceAll('\\s+', '  ')
    .replaceAll('\\', '')
    .split('(.*?)');
  return [before, after];
}

/** Pages crafted to slow down a matcher: whole pages of near matches, or matches too late or too often. */
export function makeHostilePages(
  txRegex: string,
  characters: number,
): Readonly<Record<string, string>> {
  const [before, after] = surroundingsOf(txRegex);
  const fill = (text: string): string =>
    text.repeat(Math.ceil(characters / text.length)).slice(0, characters);
  const hash = `0x${'a'.repeat(64)}`;
  const near = `0x${'a'.repeat(63)}g`;
  return {
    'of nothing': fill('x'),
    'of openings': fill(before),
    'of openings without their last letter': fill(before.slice(0, -1)),
    'of openings on lines': fill(`${before}\n`),
    'of openings beside hashes': fill(`${before}\n${hash}\n`),
    'of openings before hashes': fill(`${before}${hash}\n`),
    'one opening, never closed': `${before}${fill('x')}`.slice(0, characters),
    'one opening, hashes, never closed': `${before}${fill(`${hash} `)}`.slice(0, characters),
    'one opening, closed at the end': `${before}${fill('x')}`.slice(0, characters - 1) + after,
    'of hits of another shape': fill(`${before}${near}${after}`),
    'of hits of another shape beside hashes': fill(`${before}${near}${after} ${hash}`),
    'of empty hits beside hashes': fill(`${before}${after}${hash}`),
    'of hashes': fill(hash),
    'of white space': `${before.slice(0, 6)}${fill(' ')}`.slice(0, characters),
    'of halves of surrogate pairs': fill('\ud800'),
  };
}
