import { messageOf } from '../../errors.ts';
import { parseUntrustedJson } from '../../lib/untrusted-json.ts';
import { parseCompilerVersion } from '../compiler-version.ts';

/** An entry of a published list. */
export interface ListedCompiler {
  readonly fileName: string;
  readonly longVersion: string;
  /** Lower-case hex without 0x. */
  readonly sha256: string;
}

/** A published list, the `list.json` of Solidity's binaries. */
export interface CompilerList {
  readonly byFileName: ReadonlyMap<string, ListedCompiler>;
}

/** The official list has about ten values for each of about 2,000 builds; it is parsed on the main thread. */
const LIST_LIMITS = { values: 100_000, depth: 8, escapes: 100_000 };
/** File name of a list. */
export const LIST_NAME = 'list.json';
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9.+_-]{0,120}$/;
const SHA256 = /^(?:0x)?([0-9a-f]{64})$/i;

export const EMPTY_LIST: CompilerList = { byFileName: new Map() };

function isVersion(text: string): boolean {
  try {
    parseCompilerVersion(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads an entry of a list; undefined if it is invalid. Lists are untrusted, and their paths must be plain
 * file names.
 */
function readEntry(entry: unknown): ListedCompiler | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { path, longVersion, sha256 } = entry as Record<string, unknown>;
  if (typeof path !== 'string' || !FILE_NAME.test(path)) return undefined;
  if (typeof longVersion !== 'string' || !isVersion(longVersion)) return undefined;
  const digits = typeof sha256 === 'string' ? SHA256.exec(sha256)?.[1] : undefined;
  if (digits === undefined) return undefined;
  return { fileName: path, longVersion, sha256: digits.toLowerCase() };
}

/**
 * Reads a list; invalid entries are left out.
 * @throws TypeError if it is not a list, or holds more values than lists do.
 */
export function parseCompilerList(bytes: Uint8Array): CompilerList {
  let document: unknown;
  try {
    document = parseUntrustedJson(bytes, LIST_LIMITS);
  } catch (error) {
    throw new TypeError(messageOf(error), { cause: error });
  }
  const builds: unknown = (document as { builds?: unknown } | null)?.builds;
  if (!Array.isArray(builds)) throw new TypeError('it has no array "builds"');
  const entries = builds.map(readEntry).filter((entry) => entry !== undefined);
  return { byFileName: new Map(entries.map((entry) => [entry.fileName, entry])) };
}
