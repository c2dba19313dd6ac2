import { createHash } from 'node:crypto';

/** Where renamed sources stand: no source keeps a name that begins like this. */
const RENAMED_FOLDER = '_renamed';
/** In bytes. File systems take 255 for one name and 4,096 for a path, and a reader's own folder is part of the path. */
const SEGMENT_MAX_BYTES = 200;
const PATH_MAX_BYTES = 1000;
const PATH_MAX_SEGMENTS = 50;

// Letters, marks and digits of any script and what needs no quoting on a disk; a segment neither begins nor ends with
// a space, does not end with a dot (Windows drops it), and so is never `.` or `..`.
const SAFE_SEGMENT = /^(?! )[\p{L}\p{M}\p{N}_.\-+@:()[\]~$!,= ]+(?<![ .])$/u;
/** What Windows takes for a device, with any extension. */
const DEVICE_SEGMENT = /^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(?:\.|$)/i;
/** Kept when a source is renamed, so that readers still know what it is. `html` and the like are not among them. */
const KNOWN_EXTENSION = /\.(?:sol|yul|vy|vyi|json)$/;

/**
 * How readers of layout V1 spell a source name: they replace `@` and `:` before they ask for it.
 */
function spellPlainly(name: string): string {
  return name.replace(/[@:]/g, '_');
}

/** Equal for names that a file system or a reader may take for one: case, `@`, `:` and `_` do not tell them apart. */
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
 * The names that another name has for a folder: `a` beside `a/b`. Longer ones than a safe name has are left out; records
 * from before paths were bounded may hold names of any length.
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
 * The path of each source below `sources/` of the published tree. Source names are data: whatever they hold, their
 * paths are relative, climb nowhere, fit every file system and differ from each other in more than case.
 *
 * A name that is such a path already, and that no other name of the contract could be taken for, keeps its spelling;
 * any other becomes `_renamed/` and its SHA-256. The result does not depend on the order of the names.
 * @param names the source names of one compilation, each once.
 * @returns name → path, in the order of the names.
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
 * The source that a path below `sources/` means: the one at this path, else the only one that has this name, with or
 * without `@` and `:` replaced by `_`. A spelling that fits several names means none of them, since a reader would take
 * the content of one for that of another.
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
