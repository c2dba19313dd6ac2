import { libraryPlaceholder } from '../../solidity/library-placeholder.ts';
import {
  type ContractSection,
  type ContractSections,
  type StoredCode,
} from '../matches/contract-sections.ts';
import { mapSourcePaths } from './source-paths.ts';

/** A file of the published tree that is not a source: the sections that it needs, and how it is written. */
interface FactFile {
  readonly sections: readonly ContractSection[];
  /** Its content; undefined where the fact is not known. */
  readonly render: (sections: Partial<ContractSections>) => string | undefined;
}

/** The files beside `sources/` in the tree of layout V1, by name. */
export const FACT_FILES: ReadonlyMap<string, FactFile> = new Map<string, FactFile>([
  ['metadata.json', { sections: ['metadata'], render: ({ metadata }) => metadata ?? undefined }],
  ['path-translation.json', { sections: ['sourcePaths'], render: renderTranslation }],
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

/** `{name: path}` of the sources that do not keep their names. */
function renderTranslation({ sourcePaths = [] }: Partial<ContractSections>): string | undefined {
  const paths = mapSourcePaths(sourcePaths);
  const changed = [...paths].filter(([name, path]) => name !== path);
  // fromEntries makes own members, so that a source may be called __proto__.
  return changed.length === 0 ? undefined : JSON.stringify(Object.fromEntries(changed));
}

function renderArguments({ creationCode }: Partial<ContractSections>): string | undefined {
  const value = creationCode?.values?.['constructorArguments'];
  return typeof value === 'string' ? value : undefined;
}

/** `{placeholder: address without 0x}`, as the compiler's linker spells both. */
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

/** `{id: [{start, length}]}`, as in the compiler's output. */
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
