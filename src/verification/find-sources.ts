import { bytesToHex } from '../lib/hex.ts';
import { keccak256 } from '../lib/keccak.ts';
import { printableText } from '../lib/printable-text.ts';
import { SourceSize } from './source-size.ts';
import { VerificationFailure } from './verification-failure.ts';

/** What came of the sources that metadata names. */
export interface FoundSources {
  /** Path in the metadata → content, each with the hash that the metadata says. */
  readonly contents: ReadonlyMap<string, string>;
  /** The paths of what was given and is none of the sources that the metadata names. */
  readonly unused: readonly string[];
}

const NAMES_SHOWN = 20;
const NAME_SHOWN_CHARACTERS = 200;

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

interface NamedSource {
  readonly hash: string | undefined;
  readonly literal: string | undefined;
}

function readNamed(value: unknown): NamedSource {
  const members = typeof value === 'object' && value !== null ? value : {};
  const { keccak256: hash, content } = members as { keccak256?: unknown; content?: unknown };
  return {
    hash: typeof hash === 'string' ? hash.toLowerCase().replace(/^(?!0x)/, '0x') : undefined,
    literal: typeof content === 'string' ? content : undefined,
  };
}

/**
 * Finds every source that metadata names among the given ones: written into the metadata itself, or with the right
 * hash under any path. The content under the right path is not believed unless its hash is right.
 * @param limitBytes how much text they may have together: metadata may name one content under many paths
 * @throws VerificationFailure missing_or_invalid_source where the content under a path has another hash;
 * missing_source where there is none; sources_too_large.
 */
export function findSources(
  named: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, string>>,
  limitBytes: number,
): FoundSources {
  const index = new ContentIndex(Object.values(given));
  const contents = new Map<string, string>();
  const used = new Set<string>();
  const missing: string[] = [];
  const invalid: string[] = [];
  const size = new SourceSize(limitBytes);
  for (const [path, value] of Object.entries(named)) {
    const { hash, literal } = readNamed(value);
    if (hash === undefined) {
      invalid.push(path);
      continue;
    }
    // Whatever is hashed counts before it is.
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
  if (invalid.length > 0) throw refuse('missing_or_invalid_source', invalid, missing);
  if (missing.length > 0) throw refuse('missing_source', invalid, missing);
  const unused = Object.entries(given).filter(([, content]) => !used.has(content));
  return { contents, unused: unused.map(([path]) => path) };
}

function refuse(
  code: 'missing_source' | 'missing_or_invalid_source',
  invalid: readonly string[],
  missing: readonly string[],
): VerificationFailure {
  const show = (paths: readonly string[]): readonly string[] =>
    paths.slice(0, NAMES_SHOWN).map((path) => printableText(path, NAME_SHOWN_CHARACTERS));
  const parts = [
    ...(invalid.length > 0
      ? [`other content than the metadata says: ${show(invalid).join(', ')}`]
      : []),
    ...(missing.length > 0 ? [`missing: ${show(missing).join(', ')}`] : []),
  ];
  return new VerificationFailure(code, `Sources do not fit the metadata; ${parts.join('; ')}.`, {
    data: { invalidSources: show(invalid), missingSources: show(missing) },
  });
}
