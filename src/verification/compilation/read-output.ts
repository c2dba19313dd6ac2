import { readImmutableTypes } from '../../bytecode/solidity-immutables.ts';
import { type RecompiledCode } from '../../bytecode/recompiled-code.ts';
import { type CompilationTarget } from '../../solidity/standard-json.ts';
import { type AppendedType, readAppendedTypes } from '../../bytecode/vyper-immutables.ts';
import { parseOutput, type RawOutput } from '../../compilers/parse-output.ts';
import {
  type CompiledCode,
  type CompilerMessage,
  type ContractOutput,
  type StandardJsonOutput,
} from '../../solidity/standard-json.ts';
import { isMembers, type Members } from '../../lib/members.ts';
import { contractKeysOf, type ContractKeys } from './read-contract-keys.ts';
import { isEverySourceHashed } from './vyper-imports.ts';

/** The part of a compiler output that verifying one contract needs. */
export interface TargetOutput extends Pick<StandardJsonOutput, 'errors' | 'contracts' | 'sources'> {
  /** The other contracts of the output, if requested. */
  readonly others?: readonly ContractKeys[];
}

type Evm = NonNullable<ContractOutput['evm']>;

const ERRORS_KEPT = 10;
/** Limit per message, more than is ever shown. */
const MESSAGE_CHARACTERS = 4000;
const WORD_CHARACTERS = 100;

/**
 * Reads the part of an output that verifying a contract needs. It is small enough to send between threads,
 * whatever else the compiler wrote.
 * @throws FullmatchError as {@link parseOutput} does
 */
export function readTargetOutput(
  raw: RawOutput,
  target: CompilationTarget,
  { withOthers }: { readonly withOthers?: boolean } = { withOthers: false },
): TargetOutput {
  const output = parseOutput(raw.bytes, raw.version);
  const { errors = [], contracts = {}, sources = {} } = output;
  const isOther = ({ path, name }: ContractKeys): boolean =>
    path !== target.path || name !== target.name;
  return {
    ...(withOthers && { others: contractKeysOf(output).filter(isOther) }),
    errors: keptErrors(errors),
    // A file without the contract is kept, so that an output without the contract differs from an empty one.
    contracts: Object.fromEntries(
      Object.entries(contracts).map(([path, file]) => {
        const found = path === target.path && Object.hasOwn(file, target.name);
        const contract = found ? file[target.name] : undefined;
        return [
          path,
          Object.fromEntries(contract === undefined ? [] : [[target.name, reduce(contract)]]),
        ];
      }),
    ),
    sources: Object.fromEntries(Object.entries(sources).map(([path, { id }]) => [path, { id }])),
  };
}

/** The bytecode of a contract in an output, in hex without `0x`. */
export interface ContractCodes {
  readonly target: CompilationTarget;
  readonly runtime: string;
  readonly creation: string;
}

/** The bytecode of each contract in an output that has any, or the compiler's errors. */
export interface OutputCodes {
  readonly errors: readonly CompilerMessage[];
  readonly codes: readonly ContractCodes[];
}

/** More contracts than any compilation has. */
const CODES_MOST = 5000;

/**
 * Reads the bytecode of all contracts in an output.
 * @throws FullmatchError as {@link parseOutput} does
 */
export function readOutputCodes(raw: RawOutput): OutputCodes {
  const { errors = [], contracts = {} } = parseOutput(raw.bytes, raw.version);
  const codes = Object.entries(contracts).flatMap(([path, file]) =>
    Object.entries(file).flatMap(([name, { evm }]) => {
      const runtime = digitsOf(evm?.deployedBytecode?.object ?? '');
      const creation = digitsOf(evm?.bytecode?.object ?? '');
      return runtime === '' ? [] : [{ target: { path, name }, runtime, creation }];
    }),
  );
  return { errors: keptErrors(errors), codes: codes.slice(0, CODES_MOST) };
}

/** The types of the immutables that an output declares, or the compiler's errors. */
export interface OutputImmutables {
  readonly errors: readonly CompilerMessage[];
  readonly types: NonNullable<RecompiledCode['immutableTypes']>;
}

/**
 * Reads the types of the immutables that the syntax trees of an output declare.
 * @throws FullmatchError as {@link parseOutput} does
 */
export function readOutputImmutables({ bytes, version }: RawOutput): OutputImmutables {
  const { errors = [], sources = {} } = parseOutput(bytes, version);
  return {
    errors: keptErrors(errors),
    types: readImmutableTypes(
      Object.values(sources).map(({ ast }) => ast),
      version,
    ),
  };
}

/** The facts read from the syntax trees of a Vyper program. */
export interface VyperTrees {
  /** Types of the values appended to its runtime bytecode, if known. */
  readonly appendedTypes?: readonly AppendedType[];
  /** See {@link isEverySourceHashed}. */
  readonly isEverySourceHashed: boolean;
}

/**
 * Reads the syntax trees of the program at a path.
 * @param sources the paths of all sources
 * @throws FullmatchError as {@link parseOutput} does
 */
export function readVyperTrees(
  { bytes, version }: RawOutput,
  main: string,
  sources: readonly string[],
): VyperTrees {
  const { sources: written = {} } = parseOutput(bytes, version);
  const trees = new Map(Object.entries(written).map(([path, { ast }]) => [path, ast]));
  const appendedTypes = readAppendedTypes(trees.get(main));
  return {
    isEverySourceHashed: isEverySourceHashed(main, sources, trees),
    ...(appendedTypes && { appendedTypes }),
  };
}

function keptErrors(errors: readonly CompilerMessage[]): readonly CompilerMessage[] {
  const faults = errors.filter(({ severity }) => severity === 'error');
  return faults.slice(0, ERRORS_KEPT).map(cutMessage);
}

function cutMessage({
  severity,
  type,
  component,
  errorCode,
  message,
  formattedMessage,
}: CompilerMessage): CompilerMessage {
  return {
    severity,
    type,
    ...(typeof component === 'string' && { component: component.slice(0, WORD_CHARACTERS) }),
    ...(typeof errorCode === 'string' && { errorCode: errorCode.slice(0, WORD_CHARACTERS) }),
    message: message.slice(0, MESSAGE_CHARACTERS),
    ...(formattedMessage !== undefined && {
      formattedMessage: formattedMessage.slice(0, MESSAGE_CHARACTERS),
    }),
  };
}

function pick(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(members, name)).map((name) => [name, members[name]]),
  );
}

const OF_CONTRACT = [
  ...['abi', 'metadata', 'userdoc', 'devdoc'],
  ...['storageLayout', 'transientStorageLayout'],
];
const OF_CODE = ['object', 'sourceMap', 'linkReferences', 'immutableReferences'];

/** The oldest compilers write every output, whatever is selected. */
function reduce(contract: ContractOutput): ContractOutput {
  const { evm } = contract;
  return { ...pick(contract, OF_CONTRACT), ...(isMembers(evm) && { evm: reduceEvm(evm) }) };
}

function reduceEvm({ bytecode, deployedBytecode, legacyAssembly, methodIdentifiers }: Evm): Evm {
  return {
    ...(isMembers(methodIdentifiers) && { methodIdentifiers }),
    ...(isMembers(bytecode) && { bytecode: reduceCode(bytecode) }),
    ...(isMembers(deployedBytecode) && { deployedBytecode: reduceCode(deployedBytecode) }),
    ...(isMembers(legacyAssembly) && { legacyAssembly: reduceAssembly(legacyAssembly) }),
  };
}

function reduceCode(code: CompiledCode): CompiledCode {
  const picked = pick(code, OF_CODE) as CompiledCode;
  return typeof picked.object === 'string'
    ? { ...picked, object: digitsOf(picked.object) }
    : picked;
}

/** Vyper prefixes bytecode with `0x`, Solidity does not. */
function digitsOf(object: string): string {
  return object.startsWith('0x') ? object.slice(2) : object;
}

/**
 * Keeps the parts of an assembly and its nested assemblies that are read: the auxdata, and each library that
 * is pushed.
 */
function reduceAssembly({ '.auxdata': auxdata, '.code': code, '.data': parts }: Members): Members {
  const items: readonly unknown[] = Array.isArray(code) ? code : [];
  const libraries = new Set(
    items.filter(isMembers).flatMap(({ name, value }) => (name === 'PUSHLIB' ? [value] : [])),
  );
  return {
    ...(typeof auxdata === 'string' && { '.auxdata': auxdata }),
    '.code': [...libraries].map((value) => ({ name: 'PUSHLIB', value })),
    ...(isMembers(parts) && {
      '.data': Object.fromEntries(
        Object.entries(parts).flatMap(([name, part]) =>
          isMembers(part) ? [[name, reduceAssembly(part)]] : [],
        ),
      ),
    }),
  };
}
