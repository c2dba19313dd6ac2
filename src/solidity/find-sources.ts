import { bytesToHex } from '../lib/hex.ts';
import { keccak256 } from '../lib/keccak.ts';
import { type ListedSource } from './metadata.ts';

/** The submitted sources compared with those that the metadata lists. */
export interface FoundSources {
  /** Path in the metadata -> content with the hash from the metadata. */
  readonly contents: ReadonlyMap<string, string>;
  /** Paths of submitted sources that the metadata does not list. */
  readonly unused: readonly string[];
  /** Paths of listed sources without content. */
  readonly missing: readonly string[];
  /** Paths without a hash in the metadata, or with different submitted content. */
  readonly invalid: readonly string[];
}

function hashOf(content: string): string {
  return bytesToHex(keccak256(Buffer.from(content, 'utf8')));
}

/**
 * Returns variants of a text that editors and version control produce unintentionally: different line
 * endings, and a different end of file.
 */
function variantsOf(content: string): readonly string[] {
  const unix = content.replaceAll('\r\n', '\n');
  const dos = unix.replaceAll('\n', '\r\n');
  return [unix, dos, `${unix.trimEnd()}\n`, `${dos.trimEnd()}\r\n`, unix.trimEnd()].filter(
    (variant) => variant !== content,
  );
}

/** A content and the submitted text that it was derived from. */
interface FoundContent {
  readonly content: string;
  readonly given: string;
}

/** Finds contents by hash, first among the submitted texts, then among their variants. */
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
 * Finds every source that metadata lists: embedded in the metadata, or submitted with the right hash under
 * any path. Content under the right path is accepted only if its hash matches.
 * @param size counts each text before it is hashed or used: metadata may list one content under many paths
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
