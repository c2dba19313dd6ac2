import { isUtf8 } from 'node:buffer';
import { type Hex } from '../lib/hex.ts';
import { isMembers, type Members } from '../lib/members.ts';
import { isBoundedPath, PATH_BOUNDS } from '../lib/source-path.ts';
import { countJsonValues, JsonFault } from '../lib/untrusted-json.ts';
import { Refusal } from './refusal.ts';

/** A source as metadata.json lists it. */
export interface ListedSource {
  readonly path: string;
  /** Lower-case hex. */
  readonly keccak256: Hex;
  /** The source itself, where the compiler was told to put it into the metadata. */
  readonly content?: string;
}

/** What metadata.json says, in this service's words. */
interface MetadataDocument {
  /** The file, byte for byte. */
  readonly text: string;
  readonly language: 'solidity' | 'yul' | 'vyper';
  readonly compiler: 'solc' | 'vyper';
  readonly version: string;
  readonly target: { readonly path: string; readonly name: string };
  readonly settings: Readonly<Record<string, unknown>>;
  readonly artifacts: Readonly<Record<string, unknown>>;
  readonly sources: readonly ListedSource[];
}

const FILE = 'metadata.json';
/**
 * Values of metadata, half as many again as a request to verify may have: what is published of a contract is rendered
 * again and again. What is too deep to be stored is refused later.
 */
const JSON_LIMITS = { values: 300_000, depth: Infinity };
const VERSION = /^v?([0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]{0,100})$/;
const KECCAK256 = /^0x[0-9a-fA-F]{64}$/;
const COMPILERS = { solidity: 'solc', yul: 'solc', vyper: 'vyper' } as const;
const ARTIFACTS = ['abi', 'userdoc', 'devdoc'] as const;

function broken(what: string): Refusal {
  return new Refusal('broken_metadata', FILE, what);
}

function objectMember(object: Members, key: string, path: string): Members {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  if (!isMembers(value)) throw broken(`${path} is not an object`);
  return value;
}

function stringMember(object: Members, key: string, path: string): string {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  if (typeof value !== 'string' || value === '') throw broken(`${path} is not a text`);
  return value;
}

/** The text of UTF-8 bytes, kept exactly (a byte order mark too). @throws Refusal `invalid_utf8`, `nul_character` */
export function decodeText(bytes: Buffer, subject: string): string {
  if (!isUtf8(bytes)) throw new Refusal('invalid_utf8', subject);
  if (bytes.includes(0)) throw new Refusal('nul_character', subject);
  return bytes.toString('utf8');
}

/** A name that the database can hold: well-formed and without U+0000. */
function checkName(name: string): void {
  if (name.includes('\0')) throw new Refusal('nul_character', name);
  if (/\p{Surrogate}/u.test(name)) throw new Refusal('invalid_utf8', name);
}

function readTarget(settings: Members): { path: string; name: string } {
  const target = objectMember(settings, 'compilationTarget', 'settings.compilationTarget');
  const [entry, ...more] = Object.entries(target);
  if (entry === undefined || more.length > 0) {
    throw broken('settings.compilationTarget does not have exactly one entry');
  }
  const [path, name] = entry;
  if (typeof name !== 'string' || name === '') {
    throw broken('settings.compilationTarget does not name a contract');
  }
  checkName(path);
  checkName(name);
  return { path, name };
}

/**
 * The libraries of metadata.json, `{"path:Name": address}`, as the standard JSON input has them,
 * `{path: {Name: address}}`. Compilers before 0.7.5 wrote the name alone, which stands under the empty path.
 */
function nestLibraries(libraries: unknown): unknown {
  if (!isMembers(libraries)) return libraries;
  const paths = new Map<string, [string, unknown][]>();
  for (const [key, address] of Object.entries(libraries)) {
    const colon = key.lastIndexOf(':');
    const path = key.slice(0, Math.max(colon, 0));
    const entries = paths.get(path) ?? [];
    entries.push([key.slice(colon + 1), address]);
    paths.set(path, entries);
  }
  return Object.fromEntries(
    [...paths].map(([path, entries]) => [path, Object.fromEntries(entries)]),
  );
}

function readSettings(settings: Members): Members {
  return Object.fromEntries(
    Object.entries(settings)
      .filter(([key]) => key !== 'compilationTarget')
      .map(([key, value]) => [key, key === 'libraries' ? nestLibraries(value) : value]),
  );
}

function readSources(document: Members): ListedSource[] {
  const entries = Object.entries(objectMember(document, 'sources', 'sources'));
  if (entries.length === 0) throw broken('sources is empty');
  return entries.map(([path, source]) => {
    checkName(path);
    if (!isBoundedPath(path)) throw broken(`a source's path is too long (${PATH_BOUNDS})`);
    if (!isMembers(source)) throw broken('an entry of sources is not an object');
    const hash = stringMember(source, 'keccak256', 'sources[…].keccak256');
    if (!KECCAK256.test(hash)) throw broken('sources[…].keccak256 is no hash of 32 bytes');
    const content = Object.hasOwn(source, 'content') ? source['content'] : undefined;
    const keccak256 = hash.toLowerCase() as Hex;
    return typeof content === 'string' ? { path, keccak256, content } : { path, keccak256 };
  });
}

/** `output` is optional: a tree may hold metadata without it, and then the artifacts are not known. */
function readArtifacts(document: Members): Members {
  const output = Object.hasOwn(document, 'output') ? document['output'] : undefined;
  if (!isMembers(output)) return {};
  return Object.fromEntries(
    ARTIFACTS.filter((key) => Object.hasOwn(output, key)).map((key) => [key, output[key]]),
  );
}

function readLanguage(document: Members): MetadataDocument['language'] {
  const language = stringMember(document, 'language', 'language').toLowerCase();
  if (language === 'solidity' || language === 'yul' || language === 'vyper') return language;
  throw new Refusal('unsupported_language', FILE);
}

/**
 * Reads metadata.json (https://docs.soliditylang.org/en/latest/metadata.html).
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
  if (!isMembers(document)) throw broken('it is not a JSON object');
  const language = readLanguage(document);
  const compiler = objectMember(document, 'compiler', 'compiler');
  const version = VERSION.exec(stringMember(compiler, 'version', 'compiler.version'))?.[1];
  if (version === undefined) throw broken('compiler.version is no version number');
  const settings = objectMember(document, 'settings', 'settings');
  const target = readTarget(settings);
  const sources = readSources(document);
  if (!sources.some(({ path }) => path === target.path)) {
    throw broken('settings.compilationTarget names a path that is not among the sources');
  }
  return {
    text,
    language,
    compiler: COMPILERS[language],
    version,
    target,
    settings: readSettings(settings),
    artifacts: readArtifacts(document),
    sources,
  };
}
