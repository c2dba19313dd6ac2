import { type Diagnosis } from '../../../src/solidity/diagnosis.ts';
import {
  describeChanges,
  type SettingChanges,
  withChanges,
} from '../../../src/solidity/setting-changes.ts';
import { groupByPath } from '../../../src/solidity/library-id.ts';
import { type JobFailure } from './job-state.ts';
import { type InputChange, type VerifyFields } from './verify-fields.ts';

/** The kind of input that a form sends. */
export type InputKind = 'standard_json' | 'sources' | 'metadata';

/** A change with the label of the button that makes it. */
export interface Suggestion {
  readonly label: string;
  readonly change: InputChange;
}

const CONTRACTS_SHOWN = 5;
const nameOf = (contract: string): string => contract.slice(contract.lastIndexOf(':') + 1);

/**
 * The changes that a failure suggests for the kind of input that was sent. Metadata states all settings and
 * the contract, so there is nothing to change.
 */
export function suggestChanges(failure: JobFailure, kind: InputKind): readonly Suggestion[] {
  if (kind === 'metadata') return [];
  const {
    diagnosis = {},
    libraries,
    contracts,
  } = (failure.data ?? {}) as {
    readonly diagnosis?: Diagnosis;
    readonly libraries?: readonly { readonly library: string; readonly onChain: string }[];
    readonly contracts?: readonly string[];
  };
  const { contract, changes, compiler } = diagnosis;
  if (contract !== undefined && changes !== undefined) {
    const label = `${toContract(contract).label}, and ${describeChanges(changes)}`;
    return [{ label, change: { contract, settings: changes } }];
  }
  if (contract !== undefined) return [toContract(contract)];
  if (changes !== undefined) {
    return [{ label: `Try with ${describeChanges(changes)}`, change: { settings: changes } }];
  }
  if (compiler !== undefined) {
    const settings = { compilerVersion: compiler.onChain };
    return [{ label: `Try with ${compiler.onChain}`, change: { settings } }];
  }
  if (libraries !== undefined) {
    const named = Object.fromEntries(libraries.map(({ library, onChain }) => [library, onChain]));
    return [{ label: 'Try with the addresses on chain', change: { libraries: named } }];
  }
  return (contracts ?? []).slice(0, CONTRACTS_SHOWN).map(toContract);
}

const toContract = (contract: string): Suggestion => ({
  label: `Try with ${nameOf(contract)}`,
  change: { contract },
});

/** The form's fields after a change. Those for plain sources change as well as those for a JSON input. */
export function changeFields(
  fields: VerifyFields,
  { contract, settings, libraries }: InputChange,
): VerifyFields {
  const { compilerVersion, optimizer, evmVersion, viaIR } = settings ?? {};
  return {
    ...fields,
    ...(contract !== undefined && { contract }),
    ...(compilerVersion !== undefined && { compilerVersion }),
    ...(optimizer && { optimizer: optimizer.enabled }),
    ...(optimizer?.runs !== undefined && { runs: String(optimizer.runs) }),
    ...(evmVersion !== undefined && { evmVersion }),
    ...(viaIR !== undefined && { viaIR }),
    ...(libraries && { libraries: replaceLibraries(fields.libraries, libraries) }),
    inputChange: {
      ...fields.inputChange,
      ...(settings && { settings: { ...fields.inputChange?.settings, ...settings } }),
      ...(libraries && { libraries }),
    },
  };
}

/** The lines `name=address` with other addresses. A line may name the library without its path. */
function replaceLibraries(lines: string, libraries: Readonly<Record<string, string>>): string {
  const isReplaced = (line: string): boolean => {
    const name = line.slice(0, line.lastIndexOf('=')).trim();
    return Object.keys(libraries).some((id) => id === name || nameOf(id) === name);
  };
  const others = lines.split('\n').filter((line) => line.trim() !== '' && !isReplaced(line));
  return [...others, ...Object.entries(libraries).map((each) => each.join('='))].join('\n');
}

/** A standard JSON input with the changes of its settings. */
export function changeInput(
  input: Readonly<Record<string, unknown>>,
  { settings = {}, libraries }: InputChange = {},
): Readonly<Record<string, unknown>> {
  const changed = withChanges((input['settings'] ?? {}) as Record<string, unknown>, settings);
  return {
    ...input,
    settings: {
      ...changed,
      ...(libraries && { libraries: mergeLibraries(changed['libraries'], libraries) }),
    },
  };
}

function mergeLibraries(given: unknown, libraries: Readonly<Record<string, string>>): object {
  const merged = { ...(given as Record<string, object> | undefined) };
  for (const [path, named] of Object.entries(groupByPath(Object.entries(libraries)))) {
    merged[path] = { ...merged[path], ...named };
  }
  return merged;
}

const omitCompiler = (settings: SettingChanges): SettingChanges =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => name !== 'compilerVersion'));

/** The changes of a standard JSON input in words; undefined if there are none. */
export function describeInputChange({ settings = {}, libraries }: InputChange): string | undefined {
  const parts = [
    // The compiler has its own field.
    describeChanges(omitCompiler(settings)),
    libraries === undefined ? '' : 'the library addresses on chain',
  ].filter((part) => part !== '');
  return parts.length === 0 ? undefined : parts.join(', ');
}
