import { isTransactionHash, parseAddress, type Hex } from '../lib/hex.ts';
import {
  hashPlaceholder,
  namePlaceholder,
  placeholderDigits,
} from '../solidity/library-placeholder.ts';
import { isMembers } from '../lib/members.ts';
import { parseJson } from '../lib/parse-json.ts';
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

/** Facts in the small files next to metadata.json; missing or malformed ones stay absent. */
interface StoredFacts {
  readonly creatorTransactionHash?: Hex;
  readonly constructorArguments?: Hex;
  /** Library placeholder → address. */
  readonly libraries?: ReadonlyMap<string, Hex>;
  readonly immutableReferences?: Readonly<Record<string, unknown>>;
}

/**
 * Reads constructor-args.txt, creator-tx-hash.txt, library-map.json and immutable-references.json.
 * @throws Refusal if a file cannot be read or is too large; never because of its content
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
  const value = parseJson(text);
  return isMembers(value) && Object.keys(value).length > 0 ? value : undefined;
}

/** library-map.json: `{placeholder: address without 0x}`, both spelled as by the compiler's linker. */
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

/** immutable-references.json: `{id: [{start, length}]}`, as in the compiler output. */
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
 * Resolves each placeholder to a fully qualified name. It stays unresolved if the sources contain its library
 * never or more than once.
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
 * Facts of a verified contract. A tree names only the transaction of the creation: its block is stored once
 * it is proven here, which distinguishes a proven transaction from a claimed one.
 */
type PlacedFacts = Pick<VerifiedContract, 'runtime' | 'creation'> & {
  readonly deployment: Pick<Deployment, 'transactionHash'>;
  readonly runtimeCodeArtifacts?: NonNullable<Compilation['runtimeCodeArtifacts']>;
};

/**
 * Places facts in the Verifier Alliance's form. Constructor arguments and library addresses are values of the
 * deployment; the transformations that place them need offsets that only the bytecode tells, so that list
 * stays empty. Immutable references are offsets in the compilation.
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
