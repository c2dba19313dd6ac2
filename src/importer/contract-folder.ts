import {
  closeSync,
  constants,
  type Dir,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Match } from '../repository/repository.ts';
import { type DeliveredEvidence } from './delivered-evidence.ts';
import { type ImportLimits } from './import-limits.ts';
import { Refusal, toRefusal } from './refusal.ts';

/** Type of a folder entry; symbolic links are never followed. */
type EntryKind = 'file' | 'folder' | 'symlink' | 'special';

const LISTING_BUFFER = 64;

interface KindOf {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function kindOf(entry: KindOf): EntryKind | undefined {
  if (entry.isDirectory()) return 'folder';
  if (entry.isFile()) return 'file';
  return entry.isSymbolicLink() ? 'symlink' : undefined;
}

/** Type of a directory entry. Some file systems omit it from the listing; then lstat tells. */
export function readEntryKind(entry: Dirent, path: string): EntryKind {
  const listed = kindOf(entry);
  if (listed !== undefined) return listed;
  if (entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()) {
    return 'special';
  }
  return kindOf(lstatSync(path)) ?? 'special';
}

/**
 * Reads a file of at most `maxBytes`; `subject` is its name in refusals.
 * @throws Refusal `file_too_large`, `symlink`, `special_file`, `unreadable`
 */
export type FileReader = (subject: string, maxBytes: number) => Promise<Buffer>;

/** Files of one contract, looked up by name. No name from outside is ever opened as a path. */
export interface ContractFolder {
  /** Files directly in the folder, by name. */
  readonly files: ReadonlyMap<string, FileReader>;
  /** Regular files below `sources`, by relative path with `/`. */
  readonly sources: ReadonlyMap<string, FileReader>;
  /** The match found while reading, if it is lower than listed. */
  readonly match?: Match;
  /** Evidence that a database delivers in addition to the files of a tree. */
  readonly evidence?: DeliveredEvidence;
}

/**
 * Lists a contract's folder and, recursively, its `sources`. Other folders are ignored. It runs on a thread
 * that has nothing else to do, so it reads synchronously: a trip through the thread pool takes longer than
 * reading a file.
 * @throws Refusal `symlink`, `special_file`, `too_many_files`, `unreadable`
 */
export function listContractFolder(path: string, limits: ImportLimits): ContractFolder {
  const files = new Map<string, FileReader>();
  const sources = new Map<string, FileReader>();
  let hasSources = false;
  let seen = 0;
  const count = (subject: string): void => {
    seen += 1;
    if (seen > limits.entriesPerContract) throw new Refusal('too_many_files', subject);
  };
  for (const { name, path: entryPath, kind } of listEntries(path, '')) {
    count(name);
    if (kind === 'file') files.set(name, readerOf(entryPath));
    else if (name === 'sources') hasSources = true;
  }
  const walk = (folder: string, prefix: string, depth: number): void => {
    if (depth > limits.folderDepth) throw new Refusal('too_many_files', `sources/${prefix}`);
    const folders: [string, string][] = [];
    for (const { name, path: entryPath, kind } of listEntries(folder, `sources/${prefix}`)) {
      count(`sources/${prefix}${name}`);
      if (kind === 'file') sources.set(`${prefix}${name}`, readerOf(entryPath));
      else folders.push([entryPath, `${prefix}${name}/`]);
    }
    for (const [inner, innerPrefix] of folders) walk(inner, innerPrefix, depth + 1);
  };
  if (hasSources) walk(join(path, 'sources'), '', 1);
  return { files, sources };
}

const readerOf =
  (path: string): FileReader =>
  async (subject, maxBytes) =>
    readRegularFile(path, subject, maxBytes);

interface ListedEntry {
  readonly name: string;
  readonly path: string;
  readonly kind: 'file' | 'folder';
}

/** Yields entries one at a time, so that a folder of millions is not read past the limit. */
function* listEntries(folder: string, prefix: string): Generator<ListedEntry, void, undefined> {
  let listing: Dir | undefined;
  try {
    listing = opendirSync(folder, { bufferSize: LISTING_BUFFER });
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
      const path = join(folder, entry.name);
      const kind = readEntryKind(entry, path);
      if (kind === 'symlink') throw new Refusal('symlink', `${prefix}${entry.name}`);
      if (kind === 'special') throw new Refusal('special_file', `${prefix}${entry.name}`);
      yield { name: entry.name, path, kind };
    }
  } catch (error) {
    throw toRefusal(error, prefix === '' ? 'the folder' : prefix);
  } finally {
    listing?.closeSync();
  }
}

// NOFOLLOW refuses a link that replaced the file after the listing; NONBLOCK keeps a FIFO from blocking the
// run.
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Reads a regular file of at most `maxBytes`. See {@link FileReader}. */
function readRegularFile(path: string, subject: string, maxBytes: number): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, OPEN_FLAGS);
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Refusal('special_file', subject);
    if (stat.size > maxBytes) {
      throw new Refusal('file_too_large', subject, `larger than the limit of ${maxBytes} bytes`);
    }
    return readToEnd(file, stat.size, subject);
  } catch (error) {
    throw toRefusal(error, subject);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Requests one byte more than `size`, so that a file that grows meanwhile is refused instead of truncated. */
function readToEnd(file: number, size: number, subject: string): Buffer {
  const buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  while (length < buffer.length) {
    const bytesRead = readSync(file, buffer, length, buffer.length - length, null);
    length += bytesRead;
    // A read of a regular file is short only at its end.
    if (bytesRead === 0 || length === size) return buffer.subarray(0, length);
  }
  throw new Refusal('unreadable', subject, 'it grew while it was read');
}
