// Reads metadata.json, without I/O. Standard JSON, sources and libraries are in the other modules of this
// folder.
import { isMembers, type Members } from '../lib/members.ts';
import { groupByPath } from './library-id.ts';
import { type CompilationTarget } from './standard-json.ts';

/** A source listed in metadata.json. */
export interface ListedSource {
  readonly path: string;
  /** `0x` and lower-case digits, of the length in the metadata; absent if the metadata has no hash. */
  readonly keccak256?: string;
  /** The source text, if the compiler was set to embed it in the metadata. */
  readonly content?: string;
  /** URLs of the source according to the compiler, such as `dweb:/ipfs/Qm...`. */
  readonly urls?: readonly string[];
}

/** The languages whose compilers write metadata. */
export type MetadataLanguage = 'solidity' | 'yul' | 'vyper';

/** The content of metadata.json in this service's terms. */
export interface Metadata {
  readonly language: MetadataLanguage;
  /** As written, such as `0.8.30+commit.73712a01`. */
  readonly version: string;
  readonly target: CompilationTarget;
  /** In the form of the standard JSON input: without the target, and with libraries by path. */
  readonly settings: Members;
  readonly sources: readonly ListedSource[];
  /** `abi`, `devdoc` and `userdoc`; empty if the metadata has no output. */
  readonly output: Members;
}

/** The invalid part of a metadata document. */
export type MetadataPart = 'object' | 'language' | 'version' | 'target';

/** Thrown for a document that no compiler writes. The message is a sentence without names from the document. */
export class MetadataFault extends Error {
  override readonly name = 'MetadataFault';
  readonly part: MetadataPart;

  constructor(part: MetadataPart, message: string) {
    super(message);
    this.part = part;
  }
}

/** Names of the languages in standard JSON. */
export const LANGUAGE_NAMES: Readonly<Record<MetadataLanguage, string>> = {
  solidity: 'Solidity',
  yul: 'Yul',
  vyper: 'Vyper',
};

/** Returns whether a JSON document is the metadata of a contract, valid or not. */
export function isMetadata(value: unknown): value is Members {
  return (
    isMembers(value) && isMembers(value['settings']) && 'compilationTarget' in value['settings']
  );
}

/** Returns the contract of the metadata; undefined unless it names exactly one. */
export function targetOf({ settings }: Members): CompilationTarget | undefined {
  const target = isMembers(settings) ? settings['compilationTarget'] : undefined;
  const [entry, ...more] = isMembers(target) ? Object.entries(target) : [];
  const [path, name] = entry ?? [];
  const isOne = path !== undefined && typeof name === 'string' && more.length === 0;
  return isOne ? { path, name } : undefined;
}

/** Returns the compiler version in the metadata; undefined if there is none. */
export function versionOf({ compiler }: Members): string | undefined {
  const version = isMembers(compiler) ? compiler['version'] : undefined;
  return typeof version === 'string' && version !== '' ? version : undefined;
}

/** Returns the sources listed in the metadata; empty if there are none. */
export function listedSourcesOf({ sources }: Members): ListedSource[] {
  return Object.entries(isMembers(sources) ? sources : {}).map(([path, source]) => {
    const { keccak256: hash, content, urls } = isMembers(source) ? source : {};
    return {
      path,
      ...(typeof hash === 'string' && {
        keccak256: hash.toLowerCase().replace(/^(?!0x)/, '0x'),
      }),
      ...(typeof content === 'string' && { content }),
      ...(Array.isArray(urls) && { urls: urls.filter((url) => typeof url === 'string') }),
    };
  });
}

/**
 * Reads metadata.json (Solidity documentation, "Contract Metadata"). Does not validate the fields of sources:
 * callers check the hashes that they need.
 * @throws MetadataFault
 */
export function readMetadata(document: unknown): Metadata {
  if (!isMembers(document)) throw new MetadataFault('object', 'The metadata is not a JSON object.');
  const settings = membersOf(document, 'settings');
  const language = readLanguage(document);
  const version = versionOf(document);
  if (version === undefined) {
    throw new MetadataFault(
      'version',
      'The metadata has no compiler.version, such as 0.8.30+commit.73712a01.',
    );
  }
  const target = targetOf(document);
  if (target === undefined) {
    throw new MetadataFault(
      'target',
      'The metadata must have one entry in settings.compilationTarget: the path and the name of the contract.',
    );
  }
  membersOf(document, 'sources');
  const { output } = document;
  return {
    language,
    version,
    target,
    settings: inputSettings(settings),
    sources: listedSourcesOf(document),
    output: isMembers(output) ? output : {},
  };
}

function inputSettings(settings: Members): Members {
  return Object.fromEntries(
    Object.entries(settings)
      .filter(([key]) => key !== 'compilationTarget')
      .map(([key, value]) => [
        key,
        key === 'libraries' && isMembers(value) ? groupByPath(Object.entries(value)) : value,
      ]),
  );
}

/** Versions that write a setting to the metadata that they reject in the input (Solidity 0.8.5, changelog). */
const INLINER_WRITERS = /^v?0\.8\.[234]\b/;

/**
 * Converts settings from the metadata to settings that the compiler accepts. Without `inliner` in the
 * details, the preset decides: an enabled optimizer inlines, a disabled one does not.
 */
export function toInputSettings(settings: Members, version: string): Members {
  const { optimizer } = settings;
  const isWritten = INLINER_WRITERS.test(version) && isMembers(optimizer);
  if (!isWritten || !isMembers(optimizer['details'])) return settings;
  const { inliner, ...details } = optimizer['details'];
  const enabled = inliner === true ? { enabled: true } : {};
  return { ...settings, optimizer: { ...optimizer, ...enabled, details } };
}

function readLanguage({ language }: Members): MetadataLanguage {
  const name = typeof language === 'string' ? language.toLowerCase() : '';
  if (Object.hasOwn(LANGUAGE_NAMES, name)) return name as MetadataLanguage;
  throw new MetadataFault(
    'language',
    'The language in the metadata is unknown; Solidity, Yul and Vyper are supported.',
  );
}

function membersOf(document: Members, name: string): Members {
  const value = document[name];
  if (isMembers(value)) return value;
  throw new MetadataFault('object', `The metadata has no object "${name}".`);
}
