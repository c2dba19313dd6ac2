import { createHash } from 'node:crypto';

/** Lists the renamed sources of a contract, in layout V1. */
export const TRANSLATION_FILE = 'path-translation.json';
/** Folder of renamed sources: no source keeps a name with this prefix. */
const RENAMED_FOLDER = '_renamed';
/** In bytes. File systems allow 255 for a name and 4,096 for a path, and a reader's own folder is part of the path. */
const SEGMENT_MAX_BYTES = 200;
const PATH_MAX_BYTES = 1000;
const PATH_MAX_SEGMENTS = 50;

// Letters, marks and digits of any script and characters that are safe in file names; a segment neither
// begins nor ends with a space and does not end with a dot (Windows drops it), so it is never `.` or `..`.
const SAFE_SEGMENT = /^(?! )[\p{L}\p{M}\p{N}_.\-+@:()[\]~$!,= ]+(?<![ .])$/u;
/** Reserved device names of Windows, with any extension. */
const DEVICE_SEGMENT = /^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(?:\.|$)/i;
/**
 * Extensions that a renamed source keeps, so that readers recognise its type. `html` and the like are not
 * among them.
 */
const KNOWN_EXTENSION = /\.(?:sol|yul|vy|vyi|json)$/;

/** Names as readers of layout V1 request them: they replace `@` and `:`. */
function spellPlainly(name: string): string {
  return name.replace(/[@:]/g, '_');
}

/** Equal for names that a file system or a reader may confuse: case, `@`, `:` and `_` do not distinguish them. */
function foldName(name: string): string {
  return spellPlainly(name).normalize('NFC').toUpperCase().toLowerCase();
}

function isSafeName(name: string): boolean {
  if (Buffer.byteLength(name) > PATH_MAX_BYTES) return false;
  const segments = name.split('/');
  return (
    name.normalize('NFC') === name &&
    foldName(segments[0] ?? '') !== RENAMED_FOLDER &&
    segments.length <= PATH_MAX_SEGMENTS &&
    segments.every(
      (segment) =>
        SAFE_SEGMENT.test(segment) &&
        !DEVICE_SEGMENT.test(segment) &&
        Buffer.byteLength(segment) <= SEGMENT_MAX_BYTES,
    )
  );
}

function rename(name: string): string {
  const hash = createHash('sha256').update(name, 'utf8').digest('hex');
  return `${RENAMED_FOLDER}/${hash}${KNOWN_EXTENSION.exec(name)?.[0] ?? ''}`;
}

/**
 * Folders that a name implies: `a` for `a/b`. Names longer than a safe name are ignored; older records may
 * contain names of any length.
 */
function foldersOf(folded: readonly string[]): Set<string> {
  const folders = new Set<string>();
  for (const name of folded) {
    let slash = name.indexOf('/');
    for (let parts = 1; parts <= PATH_MAX_SEGMENTS; parts += 1) {
      if (slash === -1 || slash > PATH_MAX_BYTES) break;
      folders.add(name.slice(0, slash));
      slash = name.indexOf('/', slash + 1);
    }
  }
  return folders;
}

/**
 * Maps each source to its path below `sources/` in the published tree. Source names are data: whatever they
 * contain, their paths are relative, never climb, fit every file system and differ from each other in more
 * than case.
 *
 * A name that is such a path already, and that cannot be confused with another name of the contract, is kept;
 * any other becomes `_renamed/` and its SHA-256. The result does not depend on the order of the names.
 *
 * @param names the source names of one compilation, each once
 * @returns name → path, in the order of the names
 */
export function mapSourcePaths(names: Iterable<string>): ReadonlyMap<string, string> {
  const folded = Array.from(names, (name) => [name, foldName(name)] as const);
  const spellings = new Map<string, number>();
  for (const [, fold] of folded) spellings.set(fold, (spellings.get(fold) ?? 0) + 1);
  const folders = foldersOf(folded.map(([, fold]) => fold));
  return new Map(
    folded.map(([name, fold]) => {
      const keeps = isSafeName(name) && spellings.get(fold) === 1 && !folders.has(fold);
      return [name, keeps ? name : rename(name)];
    }),
  );
}

/**
 * Finds the source for a path below `sources/`: the one at this path, else the only one with this name, with
 * or without `@` and `:` replaced by `_`. A spelling that matches several names finds none, since a reader
 * would mistake one source for another.
 * @param paths of {@link mapSourcePaths}
 */
export function findSourceName(
  paths: ReadonlyMap<string, string>,
  path: string,
): string | undefined {
  for (const [name, own] of paths) if (own === path) return name;
  const spelled = [...paths.keys()].filter((name) => name === path || spellPlainly(name) === path);
  return spelled.length === 1 ? spelled[0] : undefined;
}
