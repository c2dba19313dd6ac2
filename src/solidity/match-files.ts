import { keccak256 } from '../lib/keccak.ts';
import { type InputFile } from './input-file.ts';
import { type ListedSource } from './metadata.ts';

const hashes = new WeakMap<InputFile, string>();

/** Returns the hash of a file's text in hex. Cached, since many artifacts list the same source. */
function hashOf(file: InputFile): string {
  const known = hashes.get(file);
  if (known !== undefined) return known;
  const bytes = keccak256(new TextEncoder().encode(file.text));
  const hash = `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  hashes.set(file, hash);
  return hash;
}

/**
 * Assigns a file to each source: the one with its hash, whatever its name. Among the remaining files, a
 * source gets the one whose path shares the longest suffix with its name, and each file is used once, for its
 * best source; the service then reports what is wrong with its text.
 */
export function matchFiles(
  sources: readonly ListedSource[],
  files: readonly InputFile[],
): ReadonlyMap<string, InputFile> {
  const byHash = new Map(files.map((file) => [hashOf(file), file]));
  const matched = new Map<string, InputFile>();
  for (const { path: name, keccak256: hash = '' } of sources) {
    const file = byHash.get(hash);
    if (file !== undefined) matched.set(name, file);
  }
  const taken = new Set(matched.values());
  const others = files.filter((file) => !taken.has(file));
  const pairs = sources
    .filter(({ path: name }) => !matched.has(name))
    .flatMap(({ path: name }) => {
      const baseName = name.slice(name.lastIndexOf('/') + 1);
      return others
        .filter(({ path }) => path.endsWith(baseName))
        .map((file) => ({ name, file, parts: countSameParts(name, file.path) }));
    });
  for (const { name, file, parts } of pairs.sort((one, other) => other.parts - one.parts)) {
    if (parts === 0 || matched.has(name) || taken.has(file)) continue;
    matched.set(name, file);
    taken.add(file);
  }
  return matched;
}

/** Counts the trailing segments that two paths share. */
function countSameParts(one: string, other: string): number {
  const [parts, others] = [one.split('/'), other.split('/')];
  let same = 0;
  while (same < parts.length && parts.at(-1 - same) === others.at(-1 - same)) same += 1;
  return same;
}
