import { type CompilationTarget, type StandardJsonInput } from '../../../solidity/standard-json.ts';
import { type Members } from '../../../lib/members.ts';

/** What a verification needs to know of a language, beside where its compiler puts metadata into code. */
export interface Language {
  /** As records name its compiler. */
  readonly compiler: 'solc' | 'vyper';
  /**
   * The settings as they are compiled and published: without those that have no effect on the code.
   * @throws VerificationFailure unsupported_setting, invalid_compiler_input
   */
  readonly cleanSettings: (settings: Members, version: string) => Members;
  /** Members of an input beside language, sources and settings that the compiler reads; their values are JSON texts. */
  readonly moreMembers: readonly string[];
  /**
   * The input with its output selection replaced by what a verification of one contract reads, and the same with other
   * contracts selected beside it, for compilers that refuse the narrow selection.
   * @param submitted the output selection of the submitter, if any
   */
  readonly selectTarget: (
    input: StandardJsonInput,
    target: CompilationTarget,
    submitted: unknown,
  ) => readonly StandardJsonInput[];
  /** The same with the codes of every contract. */
  readonly selectCodes: (
    input: StandardJsonInput,
    submitted: unknown,
  ) => readonly StandardJsonInput[];
  /** Whether the output of a version lists what the contract imports; else each source is left out by trial. */
  readonly listsImports: (version: string) => boolean;
  /** Changes of an input, each without something that may have no effect on the code and that no hash proves. */
  readonly spare: readonly ((input: StandardJsonInput) => StandardJsonInput)[];
}
