import { isUtf8 } from 'node:buffer';
import { type Hex } from '../lib/hex.ts';
import { isMembers, type Members } from '../lib/members.ts';
import {
  isBoundedName,
  isPathWithinLimits,
  MAX_NAME_BYTES,
  PATH_BOUNDS,
} from '../lib/source-path.ts';
import { countJsonValues, JsonFault } from '../lib/untrusted-json.ts';
import {
  type ListedSource,
  type Metadata,
  MetadataFault,
  readMetadata,
} from '../solidity/metadata.ts';
import { Refusal } from './refusal.ts';

/** A source and its hash in the metadata, in lower-case hex. */
export interface HashedSource extends ListedSource {
  readonly keccak256: Hex;
}

/** The content of metadata.json, as a contract is stored. */
interface MetadataDocument extends Omit<Metadata, 'output' | 'sources'> {
  /** The file, byte for byte. */
  readonly text: string;
  readonly compiler: 'solc' | 'vyper' | 'solar';
  readonly artifacts: Members;
  /** At least one, including the target's. */
  readonly sources: readonly HashedSource[];
}

const FILE = 'metadata.json';
/**
 * Maximum JSON values in metadata, half as many again as in a verification request: published metadata is
 * rendered repeatedly. Metadata nested too deeply to be stored is refused later.
 */
const JSON_LIMITS = { values: 300_000, depth: Infinity };
const VERSION = /^v?([0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]{0,100})$/;
const KECCAK256 = /^0x[0-9a-f]{64}$/;
/** Solar writes the Solidity version that it follows in front of its own. */
const SOLAR_VERSION = /\+commit\.[0-9a-f]+\.solar\./i;
const COMPILERS = { solidity: 'solc', yul: 'solc', vyper: 'vyper' } as const;
const ARTIFACTS = ['abi', 'userdoc', 'devdoc'] as const;

function broken(what: string): Refusal {
  return new Refusal('broken_metadata', FILE, what);
}

/**
 * Decodes UTF-8 exactly, including a byte order mark.
 * @throws Refusal `invalid_utf8`, `nul_character`
 */
export function decodeText(bytes: Buffer, subject: string): string {
  if (!isUtf8(bytes)) throw new Refusal('invalid_utf8', subject);
  if (bytes.includes(0)) throw new Refusal('nul_character', subject);
  return bytes.toString('utf8');
}

/** A name that the database can store: well-formed and without U+0000. */
function checkName(name: string): void {
  if (name.includes('\0')) throw new Refusal('nul_character', name);
  if (/\p{Surrogate}/u.test(name)) throw new Refusal('invalid_utf8', name);
}

/** @throws Refusal `broken_metadata`, `unsupported_language` */
function readDocument(document: unknown): Metadata {
  try {
    return readMetadata(document);
  } catch (error) {
    if (!(error instanceof MetadataFault)) throw error;
    const isNamed = isMembers(document) && typeof document['language'] === 'string';
    if (error.part === 'language' && isNamed) throw new Refusal('unsupported_language', FILE);
    throw broken(error.message);
  }
}

function hashedSource({ path, keccak256, content }: ListedSource): HashedSource {
  checkName(path);
  if (!isPathWithinLimits(path)) throw broken(`a source's path is too long (${PATH_BOUNDS})`);
  if (keccak256 === undefined || !KECCAK256.test(keccak256)) {
    throw broken('a source has no keccak256 of 32 bytes');
  }
  return { path, keccak256: keccak256 as Hex, ...(content !== undefined && { content }) };
}

/**
 * Reads metadata.json with the strictness of a published tree.
 * @throws Refusal `invalid_utf8`, `nul_character`, `broken_metadata`, `unsupported_language`
 */
export function parseMetadata(bytes: Buffer): MetadataDocument {
  const text = decodeText(bytes, FILE);
  let document: unknown;
  try {
    countJsonValues(bytes, JSON_LIMITS);
    document = JSON.parse(text);
  } catch (error) {
    throw broken(error instanceof JsonFault ? error.message : 'it is not JSON');
  }
  const metadata = readDocument(document);
  const { language, target, settings, output } = metadata;
  const version = VERSION.exec(metadata.version)?.[1];
  if (version === undefined) throw broken('compiler.version is not a version number');
  if (target.name === '') throw broken('settings.compilationTarget does not name a contract');
  if (!isBoundedName(target.name)) {
    throw broken(`the contract's name is longer than ${MAX_NAME_BYTES} bytes`);
  }
  checkName(target.path);
  checkName(target.name);
  const sources = metadata.sources.map(hashedSource);
  if (!sources.some(({ path }) => path === target.path)) {
    throw broken('settings.compilationTarget names a path that is not among the sources');
  }
  // A tree may contain metadata without `output`; its artifacts are then unknown.
  const artifacts = Object.fromEntries(
    ARTIFACTS.filter((key) => Object.hasOwn(output, key)).map((key) => [key, output[key]]),
  );
  const compiler = SOLAR_VERSION.test(version) ? 'solar' : COMPILERS[language];
  return { text, language, compiler, version, target, settings, artifacts, sources };
}
