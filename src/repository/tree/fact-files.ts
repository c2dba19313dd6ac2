import { splitQualifiedName } from '../../solidity/library-id.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';
import { LANGUAGE_NAMES, type MetadataLanguage } from '../../solidity/metadata.ts';
import { libraryPlaceholder } from '../../solidity/library-placeholder.ts';
import {
  type ContractSection,
  type ContractSections,
  type StoredCode,
} from '../matches/contract-sections.ts';
import { mapSourcePaths, TRANSLATION_FILE } from './source-paths.ts';

/** A file of the published tree that is not a source: the sections that it needs, and how it is rendered. */
interface FactFile {
  readonly sections: readonly ContractSection[];
  /** Its content; undefined if the fact is unknown. */
  readonly render: (sections: Partial<ContractSections>) => string | undefined;
  /** Cheaper test for the existence of the file. By default its content is rendered. */
  readonly presence?: {
    readonly sections: readonly ContractSection[];
    readonly isThere: (sections: Partial<ContractSections>) => boolean;
  };
}

/** The files next to `sources/` in layout V1, by name. */
export const FACT_FILES: ReadonlyMap<string, FactFile> = new Map<string, FactFile>([
  ['metadata.json', { sections: ['metadata'], render: ({ metadata }) => metadata ?? undefined }],
  [
    'compilation.json',
    {
      sections: ['metadata', 'compilation', 'artifacts', 'sources'],
      render: renderCompilation,
      presence: { sections: ['metadata', 'compilation'], isThere: isWithoutMetadata },
    },
  ],
  [TRANSLATION_FILE, { sections: ['sourceSizes'], render: renderTranslation }],
  [
    'creator-tx-hash.txt',
    { sections: ['deployment'], render: ({ deployment }) => deployment?.transactionHash },
  ],
  ['constructor-args.txt', { sections: ['creationCode'], render: renderArguments }],
  [
    'library-map.json',
    { sections: ['compilation', 'creationCode', 'runtimeCode'], render: renderLibraries },
  ],
  ['immutable-references.json', { sections: ['runtimeCode'], render: renderImmutables }],
]);

/** Sections that decide which of the files exist. */
export const FACT_PRESENCE_SECTIONS: readonly ContractSection[] = [
  ...new Set([...FACT_FILES.values()].flatMap((each) => (each.presence ?? each).sections)),
];

/**
 * Whether a contract has the file, from the sections of {@link FACT_PRESENCE_SECTIONS}, and its size in bytes
 * if that is cheap to tell.
 */
export function findFactFile(
  { presence, render }: FactFile,
  sections: Partial<ContractSections>,
): { readonly bytes?: number } | undefined {
  if (presence !== undefined) return presence.isThere(sections) ? {} : undefined;
  const content = render(sections);
  return content === undefined ? undefined : { bytes: Buffer.byteLength(content) };
}

function isWithoutMetadata({ metadata, compilation }: Partial<ContractSections>): boolean {
  return metadata === null && compilation !== undefined;
}

const PUBLISHED_ARTIFACTS = ['abi', 'userdoc', 'devdoc'];

/**
 * What a tree needs to restore a compilation without metadata, such as one of Yul or of Solidity before
 * 0.4.7: a document in the form of metadata. No compiler wrote it, so it has a different file name.
 */
function renderCompilation(sections: Partial<ContractSections>): string | undefined {
  const { compilation, artifacts = {}, sources } = sections;
  if (!isWithoutMetadata(sections) || compilation === undefined || sources === undefined) {
    return undefined;
  }
  const { language, version, fullyQualifiedName, name, settings } = compilation;
  const [path] = splitQualifiedName(fullyQualifiedName);
  const libraries = Object.entries(membersOf(settings['libraries'])).flatMap(([source, named]) =>
    Object.entries(membersOf(named)).map(([library, at]) => [`${source}:${library}`, at]),
  );
  return JSON.stringify({
    compiler: { version },
    language: LANGUAGE_NAMES[language as MetadataLanguage] ?? language,
    output: Object.fromEntries(
      PUBLISHED_ARTIFACTS.filter((key) => (artifacts[key] ?? null) !== null).map((key) => [
        key,
        artifacts[key],
      ]),
    ),
    settings: {
      ...settings,
      ...('libraries' in settings && { libraries: Object.fromEntries(libraries) as object }),
      compilationTarget: Object.fromEntries([[path, name]]),
    },
    sources: Object.fromEntries(
      sources.map((source) => [
        source.path,
        { keccak256: bytesToHex(keccak256(Buffer.from(source.content))) },
      ]),
    ),
    version: 1,
  });
}

/** `{name: path}` of the renamed sources. */
function renderTranslation({ sourceSizes = [] }: Partial<ContractSections>): string | undefined {
  const paths = mapSourcePaths(sourceSizes.map(({ path }) => path));
  const changed = [...paths].filter(([name, path]) => name !== path);
  // fromEntries creates own members, so that a source may be called __proto__.
  return changed.length === 0 ? undefined : JSON.stringify(Object.fromEntries(changed));
}

function renderArguments({ creationCode }: Partial<ContractSections>): string | undefined {
  const value = creationCode?.values?.['constructorArguments'];
  return typeof value === 'string' ? value : undefined;
}

/** `{placeholder: address without 0x}`, both spelled as by the compiler's linker. */
function renderLibraries(sections: Partial<ContractSections>): string | undefined {
  const { compilation, runtimeCode, creationCode } = sections;
  const libraries = Object.entries({ ...librariesOf(creationCode), ...librariesOf(runtimeCode) });
  if (compilation === undefined || libraries.length === 0) return undefined;
  return JSON.stringify(
    Object.fromEntries(
      libraries.map(([name, address]) => [
        libraryPlaceholder(name, compilation.version),
        String(address).replace(/^0x/, ''),
      ]),
    ),
  );
}

/** `{id: [{start, length}]}`, as in the compiler output. */
function renderImmutables({ runtimeCode }: Partial<ContractSections>): string | undefined {
  const references = membersOf(runtimeCode?.artifacts?.['immutableReferences']);
  return Object.keys(references).length === 0 ? undefined : JSON.stringify(references);
}

function librariesOf(code: StoredCode | undefined): Record<string, unknown> {
  return membersOf(code?.values?.['libraries']);
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
