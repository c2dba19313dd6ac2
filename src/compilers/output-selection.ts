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

/**
 * The input with its output selection replaced by the running code of every contract. The selection is no part of the
 * metadata: each code is the one that the contract has by itself.
 */
export function selectRunningCodes(input: StandardJsonInput): StandardJsonInput {
  const code = 'evm.deployedBytecode';
  const selected = [`${code}.object`, `${code}.linkReferences`, `${code}.immutableReferences`];
  return { ...input, settings: { ...input.settings, outputSelection: { '*': { '*': selected } } } };
}

/** The same with nothing but the bytes of the codes, which tell contracts apart. */
export function selectObjects(input: StandardJsonInput): StandardJsonInput {
  const outputSelection = {
    '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] },
  };
  return { ...input, settings: { ...input.settings, outputSelection } };
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
