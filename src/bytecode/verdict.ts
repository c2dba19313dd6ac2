import { type TrailingAuxdata } from './auxdata.ts';
import {
  type Transformation,
  type TransformationReason,
  type TransformationValues,
} from './transformation.ts';

/** The recompiled code with the recorded values applied is the code on chain, byte for byte. */
export interface CodeMatch {
  /** `full` when every metadata hash in the code is that of these sources, and there is one; else `partial`. */
  readonly match: 'full' | 'partial';
  /** In the order of offsets. */
  readonly transformations: readonly Transformation[];
  readonly values: TransformationValues;
}

/**
 * Why there is no match, by the names that verification jobs use:
 * `bytecode_length_mismatch` the code on chain is longer or shorter than any value or setting of the metadata could make it,
 * `compiled_bytecode_is_zero` the compiler gave no code (an interface, an abstract contract),
 * `no_match` bytes differ that no allowed value explains,
 * `immutable_out_of_range` all bytes are explained, but an immutable has a value that its type does not have, and no creation
 * code that matches shows that the constructor put it there,
 * `immutable_not_proven` all bytes are explained, but an immutable is a place in the code (an internal function) or of a
 * type that is not known, and no creation code that matches shows that the constructor put it there,
 * `library_not_deployed` all bytes are explained, but a library is said to be where none can be,
 * `call_protection_missing` all bytes are explained, but a library holds zeros in the place of its own address.
 */
export type MismatchReason =
  | 'no_match'
  | 'bytecode_length_mismatch'
  | 'compiled_bytecode_is_zero'
  | 'immutable_out_of_range'
  | 'immutable_not_proven'
  | 'library_not_deployed'
  | 'call_protection_missing';

/** There is no match; what a byte-level view needs to show why. */
export interface CodeMismatch {
  readonly match: null;
  readonly reason: MismatchReason;
  /** Offset in bytes of the first byte that stays different after the explained values are applied. Absent when one code begins with the other. */
  readonly firstDifference?: number;
  /** How many bytes, of those that both codes have, stay different. */
  readonly differingBytes: number;
  /** What the first difference lies in: `code`, or a value that is not explained. */
  readonly within?: 'code' | TransformationReason;
  /** Which library, immutable or auxdata that is. */
  readonly id?: string;
  /** The stretches that were given a value before the comparison, in bytes; absent where the codes are alike. */
  readonly explained?: readonly {
    readonly reason: TransformationReason;
    readonly offset: number;
    readonly length: number;
  }[];
  /** Lengths in bytes. */
  readonly recompiledLength: number;
  readonly onChainLength: number;
  /**
   * Whether both codes end with one and the same metadata hash. Then the sources and settings are those of the
   * deployment, and what differs came from elsewhere, such as files that the compiler was given beside them.
   */
  readonly sameMetadata: boolean;
  /** What the code on chain says about itself at its end: its compiler, the kind of its metadata hash. Absent when it says nothing. */
  readonly onChainAuxdata?: TrailingAuxdata;
}

export type CodeVerdict = CodeMatch | CodeMismatch;
