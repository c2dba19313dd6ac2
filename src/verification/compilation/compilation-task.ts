import { type CompilationTarget, type StandardJsonInput } from '../../solidity/standard-json.ts';

/** A compilation, ready for the compiler. */
export interface CompilationTask {
  /** Name of the language in this service, such as `solidity` or `yul`. */
  readonly language: string;
  readonly version: string;
  /** Path and name are empty if the bytecode on chain has to identify the contract. */
  readonly target: CompilationTarget;
  readonly input: StandardJsonInput;
  /** Whether the compiler receives only the target's source and requests its imports. */
  readonly isRootAlone?: true;
  /** The submitter's output selection, which the input no longer has. */
  readonly outputSelection?: unknown;
  /**
   * The input with every source that was sent, if those are more than the metadata lists. Sources that a
   * contract does not use can change its bytecode (the extra-file bug of solc: identifiers are numbered over
   * all sources).
   */
  readonly withAllSources?: StandardJsonInput;
}

/** Target of a task whose contract the bytecode on chain identifies. */
export const UNKNOWN_TARGET: CompilationTarget = { path: '', name: '' };

/** Returns whether the contract still has to be identified. */
export function isUnknownTarget({ name }: CompilationTarget): boolean {
  return name === '';
}
