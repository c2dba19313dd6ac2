import { isMembers, membersOf } from '../lib/members.ts';
import { type CompilationTarget, type StandardJsonInput } from '../solidity/standard-json.ts';

/**
 * Outputs that verifying a contract needs. Versions ignore unknown outputs: `storageLayout` exists since
 * 0.5.13, `immutableReferences` since 0.6.5, `transientStorageLayout` since 0.8.27; 0.4.11 to 0.4.21 ignore
 * the whole selection and write everything.
 */
const VERIFICATION_OUTPUT: readonly string[] = [
  'abi',
  'metadata',
  'userdoc',
  'devdoc',
  'storageLayout',
  'transientStorageLayout',
  'evm.bytecode.object',
  'evm.bytecode.sourceMap',
  'evm.bytecode.linkReferences',
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.sourceMap',
  'evm.deployedBytecode.linkReferences',
  'evm.deployedBytecode.immutableReferences',
  'evm.legacyAssembly',
  'evm.methodIdentifiers',
];

/**
 * Returns the input with the output selection for verifying one contract. Since 0.5.0 a compiler generates
 * code only for selected contracts and those that they create, so this also saves most of the time. The
 * selection is not part of the metadata, so the bytecode is unaffected.
 */
export function narrowOutputSelection(
  input: StandardJsonInput,
  target: CompilationTarget,
): StandardJsonInput {
  const outputSelection = Object.create(null) as Record<string, unknown>;
  outputSelection[target.path] = Object.assign(Object.create(null), {
    // A null prototype keeps a contract name such as `__proto__` an ordinary key.
    [target.name]: VERIFICATION_OUTPUT,
  });
  return { ...input, settings: { ...input.settings, outputSelection } };
}

/** Outputs that identify a contract by its bytecode: the runtime bytecode and the references in it. */
const RUNTIME_CODE_OUTPUT: readonly string[] = [
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.linkReferences',
  'evm.deployedBytecode.immutableReferences',
];

/**
 * Returns the input with the runtime bytecode of every contract as its output selection. The selection is not
 * part of the metadata, so the bytecode of each contract is unaffected.
 */
export function selectRuntimeCodes(input: StandardJsonInput): StandardJsonInput {
  return withSelection(input, { '*': { '*': RUNTIME_CODE_OUTPUT } });
}

/** Sources up to this size take little more time to compile completely than for one contract. */
const SMALL_SOURCES_CHARACTERS = 16_384;
/** Sources have other contracts only if these words occur more than once. */
const DECLARATION = /\b(?:contract|library)\b/g;
/** Matches `new Boat(...)`, `new ships.Boat{salt: s}(...)`, `type(Boat).creationCode`. */
const CREATED = /\b(?:new\s+|type\s*\(\s*)(?:[A-Za-z_$][\w$]*\s*\.\s*)*([A-Za-z_$][\w$]*)/g;

/** More contracts than any code creates; each name is added to the compiler's input. */
const MAX_CREATED = 200;

/** Returns the names of contracts that the sources create, up to the limit. */
function createdNames(contents: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const content of contents) {
    for (const [, name = ''] of content.matchAll(CREATED)) {
      names.add(name);
      if (names.size === MAX_CREATED) return [...names];
    }
  }
  return [...names];
}

/** Returns whether sources may declare more than one contract with code. */
export function mayHaveOtherContracts(sources: Iterable<string>): boolean {
  let declarations = 0;
  for (const content of sources) {
    const found = content.matchAll(DECLARATION);
    while (found.next().done !== true) {
      declarations += 1;
      if (declarations > 1) return true;
    }
  }
  return false;
}

/**
 * Adds the runtime bytecode of other contracts to a narrowed selection: of all contracts if the sources are
 * small, otherwise of those that some contract creates, most of which are compiled for the target anyway.
 * Returns undefined if there are none.
 */
export function selectOtherContracts(narrowed: StandardJsonInput): StandardJsonInput | undefined {
  const contents = Object.values(narrowed.sources).map(({ content = '' }) => content);
  if (!mayHaveOtherContracts(contents)) return undefined;
  const characters = contents.reduce((sum, { length }) => sum + length, 0);
  const names = characters <= SMALL_SOURCES_CHARACTERS ? ['*'] : createdNames(contents);
  if (names.length === 0) return undefined;
  const others = Object.fromEntries(names.map((name) => [name, RUNTIME_CODE_OUTPUT]));
  return withSelection(narrowed, mergeSelections(selectionOf(narrowed), { '*': others }));
}

/** Selects a contract with its cheapest output. */
const NAMED_ONLY: readonly string[] = ['abi'];

type Selection = Readonly<Record<string, unknown>>;

function selectionOf({ settings }: StandardJsonInput): Selection {
  const { outputSelection } = settings;
  return membersOf(outputSelection);
}

/** Returns the contracts that a selection lists, each with the same outputs. */
function selectNamed(selection: Selection, outputs: readonly string[]): Selection {
  return Object.fromEntries(
    Object.entries(selection).flatMap(([path, named]) =>
      isMembers(named)
        ? [[path, Object.fromEntries(Object.keys(named).map((name) => [name, outputs]))] as const]
        : [],
    ),
  );
}

/** Merges two selections; if both select a contract, the outputs of the first apply. */
function mergeSelections(first: Selection, second: Selection): Selection {
  const paths = new Set([...Object.keys(first), ...Object.keys(second)]);
  const at = (selection: Selection, path: string): object =>
    Object.hasOwn(selection, path) ? (selection[path] as object) : {};
  return Object.fromEntries(
    [...paths].map((path) => [
      path,
      Object.fromEntries([...Object.entries(at(second, path)), ...Object.entries(at(first, path))]),
    ]),
  );
}

function withSelection(input: StandardJsonInput, outputSelection: Selection): StandardJsonInput {
  return { ...input, settings: { ...input.settings, outputSelection } };
}

function distinct(inputs: readonly StandardJsonInput[]): readonly StandardJsonInput[] {
  const bySelection = new Map<string, StandardJsonInput>();
  for (const input of inputs) {
    const key = JSON.stringify(selectionOf(input));
    if (!bySelection.has(key)) bySelection.set(key, input);
  }
  return [...bySelection.values()];
}

/**
 * Returns a narrowed input, the same with the contracts that the submitter selected, and the same with all.
 * Compilers analyze contracts in the order of the selection, and up to 0.7 they miss contracts that an
 * unselected contract creates, so an input may fail under one selection and compile under another.
 */
export function widenOutputSelection(
  narrowed: StandardJsonInput,
  submitted: unknown,
): readonly StandardJsonInput[] {
  const given = membersOf(submitted);
  const widenings = [{}, given, { '*': { '*': [] } }];
  return distinct(
    widenings.map((selection) =>
      withSelection(
        narrowed,
        mergeSelections(selectionOf(narrowed), selectNamed(selection, NAMED_ONLY)),
      ),
    ),
  );
}

const OBJECTS: readonly string[] = ['evm.bytecode.object', 'evm.deployedBytecode.object'];

/**
 * Returns the input with only the bytecode as its output selection: that of all contracts, followed by that
 * of the contracts that the submitter selected, in case the first is rejected.
 */
export function selectObjects(
  input: StandardJsonInput,
  submitted: unknown,
): readonly StandardJsonInput[] {
  const all = { '*': { '*': OBJECTS } };
  const named = selectNamed(membersOf(submitted), OBJECTS);
  const selections = Object.keys(named).length === 0 ? [all] : [all, named];
  return distinct(selections.map((selection) => withSelection(input, selection)));
}

/** Matches a source that may declare an immutable, or a type that an immutable may have. */
const DECLARES_TYPES = /\b(?:immutable|enum|type)\b/;

/**
 * Returns the input with the syntax trees that contain the types of immutables as its output selection. This
 * generates no code, and the ids in the trees are the same as in the bytecode of the same input.
 */
export function selectImmutableDeclarations(input: StandardJsonInput): StandardJsonInput {
  const outputSelection = Object.create(null) as Record<string, unknown>;
  for (const [path, { content = '' }] of Object.entries(input.sources)) {
    if (DECLARES_TYPES.test(content)) outputSelection[path] = { '': ['ast'] };
  }
  return { ...input, settings: { ...input.settings, outputSelection } };
}
