import { type Dirent, type Stats } from 'node:fs';
import { lstat, opendir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import type { Match } from '../repository/repository.ts';
import { listContractFolder, readEntryKind } from './contract-folder.ts';
import { parseAddressFolder, parseChainFolder, preferredSpellings } from './entry-name.ts';
import { type ContractLocation } from './read-contract.ts';
import { Refusal, toRefusal } from './refusal.ts';
import { unusableSource } from './unusable-source.ts';

/** Folders of the tree in reading order: an address in both counts as its full match. */
export const MATCH_FOLDERS = [
  { match: 'full', name: 'full_match' },
  { match: 'partial', name: 'partial_match' },
] as const satisfies readonly { match: Match; name: string }[];

/** A step of the walk: a contract's folder, an entry to refuse, or a foreign file. */
export type TreeEntry =
  | { readonly kind: 'contract'; readonly location: ContractLocation }
  | {
      readonly kind: 'refused';
      readonly path: string;
      readonly refusal: Refusal;
      readonly chainId?: number;
    }
  | { readonly kind: 'foreign' };

/** Makes the entry of a contract that is not a folder on disk; what is refused becomes a refused entry. */
export function toTreeEntry(
  path: string,
  [chain, address]: readonly [chain: string, address: string],
  locate: (place: Pick<ContractLocation, 'chainId' | 'address' | 'path'>) => ContractLocation,
): TreeEntry {
  let chainId: number | undefined;
  try {
    chainId = parseChainFolder(chain);
    const place = { path, chainId, address: parseAddressFolder(address) };
    return { kind: 'contract', location: locate(place) };
  } catch (error) {
    return { ...refusedEntry(error, path), ...(chainId !== undefined && { chainId }) };
  }
}

async function lstatIfAny(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

async function holdsMatches(path: string): Promise<boolean> {
  const stats = await Promise.all(MATCH_FOLDERS.map(({ name }) => lstatIfAny(join(path, name))));
  return stats.some((stat) => stat !== undefined);
}

/**
 * Finds the folder that contains `full_match` and `partial_match`: the path itself, or its folder
 * `contracts`. The path may be a symbolic link, since the operator names it; links below it are never
 * followed.
 * @throws FullmatchError `import_path_unusable`
 */
export async function findTreeRoot(path: string): Promise<string> {
  let folder: string;
  try {
    folder = await realpath(path);
    if (await holdsMatches(folder)) return folder;
    await (await opendir(folder)).close();
  } catch (error) {
    throw unusableSource(path, messageOf(error), error);
  }
  const contracts = join(folder, 'contracts');
  const stat = await lstatIfAny(contracts);
  if (stat?.isDirectory() === true) return contracts;
  throw unusableSource(
    path,
    stat === undefined
      ? 'it has neither the folder contracts nor full_match or partial_match; pass the folder that contains contracts, or contracts itself'
      : 'its contracts is not a folder; symbolic links are not followed, so pass the folder it points to',
  );
}

/**
 * Walks the chain folders and addresses of one match in file system order, with one folder listing open at a
 * time. It reads only names and types, nothing below an address.
 */
export async function* walkTree(
  root: string,
  { match, name }: (typeof MATCH_FOLDERS)[number],
): AsyncGenerator<TreeEntry, void, undefined> {
  const matchStat = await lstatIfAny(join(root, name));
  if (matchStat === undefined) return;
  if (!matchStat.isDirectory()) {
    const reason = matchStat.isSymbolicLink() ? 'symlink' : 'not_a_folder';
    yield { kind: 'refused', path: name, refusal: new Refusal(reason, name) };
    return;
  }
  for await (const chain of listFolders(root, name, parseChainFolder)) {
    if (chain.kind !== 'folder') {
      yield chain;
      continue;
    }
    const chainId = chain.value;
    for await (const entry of listFolders(root, chain.path, parseAddressFolder)) {
      if (entry.kind !== 'folder') {
        yield entry.kind === 'refused' ? { ...entry, chainId } : entry;
        continue;
      }
      const { path, value: address } = entry;
      const folder = join(root, path);
      const twin = await findPreferredTwin(join(root, chain.path), entry.name, address);
      if (twin === undefined) {
        yield {
          kind: 'contract',
          location: { match, chainId, address, path, folder, list: listOf(folder) },
        };
      } else {
        const refusal = new Refusal(
          'address_spelled_twice',
          entry.name,
          `${twin} is imported instead`,
        );
        yield { kind: 'refused', path, refusal, chainId };
      }
    }
  }
}

/** Lists the files of a contract in that folder. */
export const listOf =
  (folder: string): ContractLocation['list'] =>
  async (limits) =>
    listContractFolder(folder, limits);

type Listed<Value> =
  | { readonly kind: 'folder'; readonly path: string; readonly name: string; readonly value: Value }
  | Exclude<TreeEntry, { kind: 'contract' }>;

/** The subfolders of a folder with their parsed names; a name that `parse` refuses is a refused entry. */
async function* listFolders<Value>(
  root: string,
  parent: string,
  parse: (name: string) => Value,
): AsyncGenerator<Listed<Value>, void, undefined> {
  try {
    for await (const entry of await opendir(join(root, parent), { bufferSize: 512 })) {
      const path = `${parent}/${entry.name}`;
      try {
        yield await judgeEntry(entry, root, path, parse);
      } catch (error) {
        yield refusedEntry(error, path);
      }
    }
  } catch (error) {
    yield refusedEntry(error, parent);
  }
}

function refusedEntry(error: unknown, path: string): Extract<TreeEntry, { kind: 'refused' }> {
  const refusal = toRefusal(error, path);
  if (!(refusal instanceof Refusal)) throw error;
  return { kind: 'refused', path, refusal };
}

async function judgeEntry<Value>(
  entry: Dirent,
  root: string,
  path: string,
  parse: (name: string) => Value,
): Promise<Listed<Value>> {
  const kind = readEntryKind(entry, join(root, path));
  if (kind === 'symlink') throw new Refusal('symlink', entry.name);
  if (kind === 'special') throw new Refusal('special_file', entry.name);
  if (kind === 'folder')
    return { kind: 'folder', path, name: entry.name, value: parse(entry.name) };
  // A file does not belong to the tree, for example an operator's note, unless it takes the name of a
  // contract folder.
  if (!parses(entry.name, parse)) return { kind: 'foreign' };
  throw new Refusal('not_a_folder', entry.name);
}

function parses(name: string, parse: (name: string) => unknown): boolean {
  try {
    parse(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * A sibling folder that spells the same address and takes precedence; looked up on disk, so that seen
 * addresses are not remembered.
 */
async function findPreferredTwin(
  chainFolder: string,
  name: string,
  address: ContractLocation['address'],
): Promise<string | undefined> {
  const spellings = preferredSpellings(name, address);
  if (spellings.length === 0) return undefined;
  const own = await lstatIfAny(join(chainFolder, name));
  for (const spelling of spellings) {
    const other = await lstatIfAny(join(chainFolder, spelling));
    // On a case-insensitive file system both spellings lead to the same folder.
    if (other?.isDirectory() === true && other.ino !== own?.ino) return spelling;
  }
  return undefined;
}

/**
 * Counts the entries in the chain folders, for the time left. It reads only names, so it is far ahead of the
 * import. A folder that cannot be listed counts zero here; the walk reports it.
 */
export async function countEntries(root: string, signal: AbortSignal): Promise<number> {
  let count = 0;
  const eachFolder = async (path: string, visit: (entry: Dirent) => Promise<void> | void) => {
    try {
      for await (const entry of await opendir(path, { bufferSize: 512 })) {
        if (signal.aborted) return;
        if (entry.isDirectory()) await visit(entry);
      }
    } catch {
      return;
    }
  };
  for (const { name } of MATCH_FOLDERS) {
    const matchFolder = join(root, name);
    await eachFolder(matchFolder, async (chain) => {
      await eachFolder(join(matchFolder, chain.name), () => void (count += 1));
    });
  }
  return count;
}
