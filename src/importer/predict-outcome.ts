import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { allSpellings } from './entry-name.ts';
import { type Outcome } from './import-tally.ts';
import { type ContractLocation } from './read-contract.ts';
import { listOf, MATCH_FOLDERS } from './repository-tree.ts';
import type { CurrentMatch, Match } from '../repository/repository.ts';

/** What storing a match would do to the current one: a match is only upgraded, and one verified here stays. */
export function predictOutcome(match: Match, current: CurrentMatch | undefined): Outcome {
  if (current === undefined) return 'stored';
  if (match !== 'full' || current.match !== 'partial') return 'unchanged';
  return current.origin === 'imported' && !current.hasJudgedTexts ? 'upgraded' : 'kept';
}

/**
 * Whether the same tree has a valid full match for the address of a partial one, which a real run would have
 * stored before. `isSound` reads the other folder. Only a dry run needs this, because it stores nothing.
 */
export async function hasValidFullMatch(
  root: string,
  location: ContractLocation,
  isSound: (location: ContractLocation) => Promise<boolean>,
): Promise<boolean> {
  const [full] = MATCH_FOLDERS;
  if (location.match === full.match) return false;
  const chain = join(full.name, basename(dirname(location.path)));
  // Each folder on the path must be a directory and not a link, as the walk requires.
  for (const folder of [full.name, chain]) if (!(await isFolder(join(root, folder)))) return false;
  for (const spelling of allSpellings(location.address)) {
    const path = join(chain, spelling);
    const folder = join(root, path);
    if (await isFolder(folder))
      return isSound({ ...location, match: full.match, folder, list: listOf(folder), path });
  }
  return false;
}

async function isFolder(path: string): Promise<boolean> {
  const stat = await lstat(path).catch(() => undefined);
  return stat?.isDirectory() === true;
}
