import { type CompilationTarget, type StandardJsonInput } from '../../solidity/standard-json.ts';

/** What is to be compiled, ready for the compiler. */
export interface CompilationTask {
  /** `solidity` or `yul`: the language's name here. */
  readonly language: string;
  readonly version: string;
  /** Of no name and no path where the code on chain is to say which contract it is. */
  readonly target: CompilationTarget;
  readonly input: StandardJsonInput;
  /** Whether the compiler is given the source of the target alone and asks for what it imports. */
  readonly isRootAlone?: true;
  /** The output selection of the submitter, which the input no longer has. */
  readonly outputSelection?: unknown;
  /**
   * The same with every source that was given, where that is more than the metadata names. Sources that a contract
   * does not use can change its code (the extra-file bug of solc: identifiers are numbered over all sources).
   */
  readonly withAllSources?: StandardJsonInput;
}

/** The target of a task whose contract is found by the code on chain. */
export const OPEN_TARGET: CompilationTarget = { path: '', name: '' };

/** Whether the contract is still to be found. */
export function isOpen({ name }: CompilationTarget): boolean {
  return name === '';
}
