import { isMembers } from '../lib/members.ts';
import { type CompilationTarget, type StandardJsonInput } from '../solidity/standard-json.ts';

/**
 * What a verification reads of a contract. Versions ignore what they do not know: `storageLayout` is there since
 * 0.5.13, `immutableReferences` since 0.6.5, `transientStorageLayout` since 0.8.27; 0.4.11 to 0.4.21 ignore the whole
 * selection and answer everything.
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
 * The input with its output selection replaced by what a verification of one contract reads. Since 0.5.0 a compiler
 * generates code only for contracts that are selected and what these create, so this also saves most of the time.
 * The selection is not part of the metadata: the code stays the same.
 */
export function narrowOutputSelection(
  input: StandardJsonInput,
  target: CompilationTarget,
): StandardJsonInput {
  const outputSelection = Object.create(null) as Record<string, unknown>;
  outputSelection[target.path] = Object.assign(Object.create(null), {
    // Computed, so that a contract named like a special property stays a name.
    [target.name]: VERIFICATION_OUTPUT,
  });
  return { ...input, settings: { ...input.settings, outputSelection } };
}

/** What tells a contract by its code: the runtime code and the places of its values. */
const RUNTIME_CODE_OUTPUT: readonly string[] = [
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.linkReferences',
  'evm.deployedBytecode.immutableReferences',
];

/**
 * The input with its output selection replaced by the runtime code of every contract. The selection is no part of the
 * metadata: each code is the one that the contract has by itself.
 */
export function selectRuntimeCodes(input: StandardJsonInput): StandardJsonInput {
  return withSelection(input, { '*': { '*': RUNTIME_CODE_OUTPUT } });
}

/** Sources up to this size are compiled as a whole in little more time than for one contract. */
const SMALL_SOURCES_CHARACTERS = 16_384;
/** A source has other contracts only where one of these words stands twice. */
const DECLARATION = /\b(?:contract|library)\b/g;
/** `new Boat(…)`, `new ships.Boat{salt: s}(…)`, `type(Boat).creationCode`. */
const CREATED = /\b(?:new\s+|type\s*\(\s*)(?:[A-Za-z_$][\w$]*\s*\.\s*)*([A-Za-z_$][\w$]*)/g;

/** No contract creates as many others; each is named in the input of the compiler. */
const MOST_CREATED = 200;

/** The names of contracts that some code creates, the first of them. */
function createdNames(contents: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const content of contents) {
    for (const [, name = ''] of content.matchAll(CREATED)) {
      names.add(name);
      if (names.size === MOST_CREATED) return [...names];
    }
  }
  return [...names];
}

/** Whether sources may declare more than one contract that has code. */
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
 * A narrowed input that also asks for the runtime codes of other contracts: of all where the sources are small, else of
 * those that some code creates, which are mostly compiled for the target in any case. Undefined where there are none.
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

/** Selects a contract and nothing of it that costs time. */
const NAMED_ONLY: readonly string[] = ['abi'];

type Selection = Readonly<Record<string, unknown>>;

function selectionOf({ settings }: StandardJsonInput): Selection {
  const { outputSelection } = settings;
  return isMembers(outputSelection) ? outputSelection : {};
}

/** The contracts that a selection names, each with the same outputs. */
function selectNamed(selection: Selection, outputs: readonly string[]): Selection {
  return Object.fromEntries(
    Object.entries(selection).flatMap(([path, named]) =>
      isMembers(named)
        ? [[path, Object.fromEntries(Object.keys(named).map((name) => [name, outputs]))] as const]
        : [],
    ),
  );
}

/** Both selections as one; where both have outputs of a contract, those of the first. */
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
 * A narrowed input, and the same with the contracts that the submitter selected, then with all. Compilers analyse in the
 * order of what is selected, and up to 0.7 miss contracts that an unselected one creates: what one selection makes them
 * refuse, they compile under another.
 */
export function widenOutputSelection(
  narrowed: StandardJsonInput,
  submitted: unknown,
): readonly StandardJsonInput[] {
  const given = isMembers(submitted) ? submitted : {};
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
 * The input with its output selection replaced by nothing but the bytes of the codes, which tell contracts apart: of all contracts, and where that is
 * refused of those that the submitter selected.
 */
export function selectObjects(
  input: StandardJsonInput,
  submitted: unknown,
): readonly StandardJsonInput[] {
  const all = { '*': { '*': OBJECTS } };
  const named = selectNamed(isMembers(submitted) ? submitted : {}, OBJECTS);
  const selections = Object.keys(named).length === 0 ? [all] : [all, named];
  return distinct(selections.map((selection) => withSelection(input, selection)));
}

/** Whether a source may declare an immutable, or a type that one may have. */
const DECLARES_TYPES = /\b(?:immutable|enum|type)\b/;

/**
 * The input with its output selection replaced by the syntax trees that say the types of immutables. No code is
 * generated for it, and the ids in the trees are those of the code of the same input.
 */
export function selectImmutableDeclarations(input: StandardJsonInput): StandardJsonInput {
  const outputSelection = Object.create(null) as Record<string, unknown>;
  for (const [path, { content = '' }] of Object.entries(input.sources)) {
    if (DECLARES_TYPES.test(content)) outputSelection[path] = { '': ['ast'] };
  }
  return { ...input, settings: { ...input.settings, outputSelection } };
}
