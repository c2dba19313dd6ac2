import { bytesToHex } from '../lib/hex.ts';
import { keccak256 } from '../lib/keccak.ts';
import { type ListedSource } from './metadata.ts';

/** How the given sources fit those that the metadata names. */
export interface FoundSources {
  /** Path in the metadata → content, each with the hash that the metadata says. */
  readonly contents: ReadonlyMap<string, string>;
  /** The paths of given sources that the metadata does not name. */
  readonly unused: readonly string[];
  /** The paths of sources that no content was found for. */
  readonly missing: readonly string[];
  /** The paths that the metadata says no hash of, or that another content was given under. */
  readonly invalid: readonly string[];
}

function hashOf(content: string): string {
  return bytesToHex(keccak256(Buffer.from(content, 'utf8')));
}

/** What editors and version control make of a text without meaning to: line endings, and the line break at its end. */
function variantsOf(content: string): readonly string[] {
  const unix = content.replaceAll('\r\n', '\n');
  const dos = unix.replaceAll('\n', '\r\n');
  return [unix, dos, `${unix.trimEnd()}\n`, `${dos.trimEnd()}\r\n`, unix.trimEnd()].filter(
    (variant) => variant !== content,
  );
}

/** A content with the given one that it was made of. */
interface FoundContent {
  readonly content: string;
  readonly given: string;
}

/** Finds contents by hash: the given ones first, and their variants only when one is missing. */
class ContentIndex {
  readonly #given: readonly string[];
  readonly #byHash: Map<string, FoundContent>;
  #hasVariants = false;

  constructor(given: readonly string[]) {
    this.#given = given;
    this.#byHash = new Map(given.map((content) => [hashOf(content), { content, given: content }]));
  }

  find(hash: string): FoundContent | undefined {
    const found = this.#byHash.get(hash);
    if (found !== undefined || this.#hasVariants) return found;
    this.#hasVariants = true;
    for (const given of this.#given) {
      for (const content of variantsOf(given))
        this.#byHash.set(hashOf(content), { content, given });
    }
    return this.#byHash.get(hash);
  }
}

/**
 * Finds every source that metadata lists among the given ones: written into the metadata itself, or with the right
 * hash under any path. The content under the right path is not believed unless its hash is right.
 * @param size counts each text before it is hashed or taken: metadata may list one content under many paths
 */
export function findSources(
  listed: readonly ListedSource[],
  given: Readonly<Record<string, string>>,
  size: { add(content: string): void },
): FoundSources {
  const index = new ContentIndex(Object.values(given));
  const contents = new Map<string, string>();
  const used = new Set<string>();
  const missing: string[] = [];
  const invalid: string[] = [];
  for (const { path, keccak256: hash, content: literal } of listed) {
    if (hash === undefined) {
      invalid.push(path);
      continue;
    }
    if (literal !== undefined) size.add(literal);
    const isLiteral = literal !== undefined && hashOf(literal) === hash;
    const found = isLiteral ? { content: literal, given: literal } : index.find(hash);
    if (found !== undefined) {
      if (!isLiteral) size.add(found.content);
      contents.set(path, found.content);
      used.add(found.given);
    } else if (Object.hasOwn(given, path)) invalid.push(path);
    else missing.push(path);
  }
  const unused = Object.entries(given).filter(([, content]) => !used.has(content));
  return { contents, unused: unused.map(([path]) => path), missing, invalid };
}
