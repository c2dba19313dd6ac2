import { type CompilationTarget, type StandardJsonInput } from '../../../solidity/standard-json.ts';
import { type Members } from '../../../lib/members.ts';

/** The properties of a language that verification needs; where its compiler puts metadata is defined elsewhere. */
export interface Language {
  /** Name of its compiler in records. */
  readonly compiler: 'solc' | 'vyper';
  /**
   * Returns the settings as they are compiled and published, without those that have no effect on the
   * bytecode.
   * @throws VerificationFailure unsupported_setting, invalid_compiler_input
   */
  readonly cleanSettings: (settings: Members, version: string) => Members;
  /** Input members that the compiler reads besides language, sources and settings; their values are JSON texts. */
  readonly moreMembers: readonly string[];
  /**
   * Returns the input with the output selection for verifying one contract, followed by wider selections for
   * compilers that reject the narrow one.
   * @param submitted the output selection of the submitter, if any
   */
  readonly selectTarget: (
    input: StandardJsonInput,
    target: CompilationTarget,
    submitted: unknown,
  ) => readonly StandardJsonInput[];
  /** Returns the same with the bytecode of every contract selected. */
  readonly selectCodes: (
    input: StandardJsonInput,
    submitted: unknown,
  ) => readonly StandardJsonInput[];
  /** Whether the output of a version lists what the contract imports. If not, unneeded sources are found by trial. */
  readonly listsImports: (version: string) => boolean;
  /**
   * Changes to an input, each of which removes something that may have no effect on the bytecode and that no
   * hash proves.
   */
  readonly spare: readonly ((input: StandardJsonInput) => StandardJsonInput)[];
}
