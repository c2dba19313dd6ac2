import { isTransactionHash, parseAddress, type Hex } from '../lib/hex.ts';
import {
  hashPlaceholder,
  namePlaceholder,
  placeholderDigits,
} from '../solidity/library-placeholder.ts';
import { isMembers } from '../lib/members.ts';
import type {
  Compilation,
  Deployment,
  Source,
  VerifiedContract,
} from '../repository/repository.ts';
import { type ContractFolder } from './contract-folder.ts';
import { type ReadBudget } from './find-sources.ts';
import { type ImportLimits } from './import-limits.ts';

const TRANSACTION_FILE = 'creator-tx-hash.txt';
const ARGUMENTS_FILE = 'constructor-args.txt';
const LIBRARIES_FILE = 'library-map.json';
const IMMUTABLES_FILE = 'immutable-references.json';

/** What the small files beside metadata.json say; what is absent or not well-formed stays absent. */
interface StoredFacts {
  readonly creatorTransactionHash?: Hex;
  readonly constructorArguments?: Hex;
  /** Library placeholder → address. */
  readonly libraries?: ReadonlyMap<string, Hex>;
  readonly immutableReferences?: Readonly<Record<string, unknown>>;
}

/**
 * Reads constructor-args.txt, creator-tx-hash.txt, library-map.json and immutable-references.json.
 * @throws Refusal of a file that cannot be read or is too large; never for what a file says
 */
export async function readStoredFacts(
  folder: ContractFolder,
  limits: ImportLimits,
  budget: ReadBudget,
): Promise<StoredFacts> {
  const read = async (name: string): Promise<string> => {
    const readFile = folder.files.get(name);
    if (readFile === undefined) return '';
    const bytes = await readFile(name, limits.factBytes);
    budget.take(bytes.length, name);
    return bytes.toString('utf8').trim();
  };
  const transaction = await read(TRANSACTION_FILE);
  const creationArguments = await read(ARGUMENTS_FILE);
  const libraries = parseLibraries(parseObject(await read(LIBRARIES_FILE)));
  const immutableReferences = parseImmutables(parseObject(await read(IMMUTABLES_FILE)));
  return {
    ...(isTransactionHash(transaction) && {
      creatorTransactionHash: transaction.toLowerCase() as Hex,
    }),
    ...(/^0x([0-9a-fA-F]{2})+$/.test(creationArguments) && {
      constructorArguments: creationArguments.toLowerCase() as Hex,
    }),
    ...(libraries !== undefined && { libraries }),
    ...(immutableReferences !== undefined && { immutableReferences }),
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isMembers(value) && Object.keys(value).length > 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

/** library-map.json: `{placeholder: address without 0x}`, both as the linker of the compiler spells them. */
function parseLibraries(
  map: Readonly<Record<string, unknown>> | undefined,
): Map<string, Hex> | undefined {
  if (map === undefined) return undefined;
  const libraries = new Map<string, Hex>();
  for (const [placeholder, value] of Object.entries(map)) {
    const digits = typeof value === 'string' ? value.replace(/^0x/, '').toLowerCase() : '';
    const address = parseAddress(`0x${digits}`);
    if (address === undefined) return undefined;
    libraries.set(placeholder, address);
  }
  return libraries;
}

/** immutable-references.json: `{id: [{start, length}]}`, as in the compiler's output. */
function parseImmutables(
  map: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const isReference = (value: unknown): boolean =>
    isMembers(value) &&
    Number.isSafeInteger(value['start']) &&
    Number.isSafeInteger(value['length']);
  const isSound =
    map !== undefined &&
    Object.entries(map).every(
      ([id, references]) =>
        /^[0-9]+$/.test(id) && Array.isArray(references) && references.every(isReference),
    );
  return isSound ? map : undefined;
}

const LIBRARY_DECLARATION = /\blibrary\s+([A-Za-z_$][A-Za-z0-9_$]*)/g;

/**
 * The fully qualified name behind each placeholder. One whose library the sources do not show, or show more than once,
 * keeps its spelling.
 */
function nameLibraries(
  libraries: ReadonlyMap<string, Hex>,
  sources: readonly Source[],
): Record<string, Hex> {
  const names = new Map<string, Set<string>>();
  for (const { path, content } of sources) {
    for (const [, name = ''] of content.matchAll(LIBRARY_DECLARATION)) {
      const qualified = `${path}:${name}`;
      for (const placeholder of [
        hashPlaceholder(qualified),
        placeholderDigits(qualified),
        namePlaceholder(qualified).toString('utf8'),
      ]) {
        names.set(placeholder, (names.get(placeholder) ?? new Set()).add(qualified));
      }
    }
  }
  const named = [...libraries].map(([placeholder, address]) => {
    const [name, ...others] = names.get(placeholder) ?? [];
    return [others.length > 0 ? placeholder : (name ?? placeholder), address] as const;
  });
  return Object.fromEntries(named);
}

/**
 * What the stored facts give of a verified contract. Of the creation a tree names the transaction alone: its block is
 * stored by whoever proves it here, and tells a proven transaction from a claimed one.
 */
type PlacedFacts = Pick<VerifiedContract, 'runtime' | 'creation'> & {
  readonly deployment: Pick<Deployment, 'transactionHash'>;
  readonly runtimeCodeArtifacts?: NonNullable<Compilation['runtimeCodeArtifacts']>;
};

/**
 * Puts the facts where the Verifier Alliance's form has a place for them. Constructor arguments and library
 * addresses are values of the deployment; the transformations that place them in the code need offsets that
 * only the code tells, so that list stays empty. Immutable references are offsets of the compilation.
 */
export function placeFacts(facts: StoredFacts, sources: readonly Source[]): PlacedFacts {
  const { creatorTransactionHash, constructorArguments, libraries, immutableReferences } = facts;
  return {
    deployment:
      creatorTransactionHash === undefined ? {} : { transactionHash: creatorTransactionHash },
    ...(constructorArguments !== undefined && {
      creation: { transformations: [], values: { constructorArguments } },
    }),
    ...(libraries !== undefined && {
      runtime: { transformations: [], values: { libraries: nameLibraries(libraries, sources) } },
    }),
    ...(immutableReferences !== undefined && { runtimeCodeArtifacts: { immutableReferences } }),
  };
}
