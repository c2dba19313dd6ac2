import { type TrailingAuxdata } from './auxdata.ts';
import {
  type Transformation,
  type TransformationReason,
  type TransformationValues,
} from './transformation.ts';

/** A match: the recompiled bytecode with the recorded values applied equals the bytecode on chain, byte for byte. */
export interface CodeMatch {
  /** `full` if there is a metadata hash and every one is that of these sources; otherwise `partial`. */
  readonly match: 'full' | 'partial';
  /** In order of offset. */
  readonly transformations: readonly Transformation[];
  readonly values: TransformationValues;
}

/**
 * Why there is no match, by the names that verification jobs use.
 * - `bytecode_length_mismatch`: the bytecode on chain is longer or shorter than any value or metadata setting
 *   could make it.
 * - `compiled_bytecode_is_zero`: the compiler produced no bytecode (an interface, an abstract contract).
 * - `no_match`: bytes differ that no allowed value explains.
 * - `immutable_out_of_range`: all bytes are explained, but an immutable has a value outside its type, and no
 *   matching creation bytecode shows that the constructor set it.
 * - `immutable_not_proven`: all bytes are explained, but an immutable is a code pointer (an internal
 *   function) or of unknown type, and no matching creation bytecode shows that the constructor set it.
 * - `library_not_deployed`: all bytes are explained, but a library is linked at an address where none can be.
 * - `call_protection_missing`: all bytes are explained, but a library contains zeros instead of its own
 *   address.
 */
export type MismatchReason =
  | 'no_match'
  | 'bytecode_length_mismatch'
  | 'compiled_bytecode_is_zero'
  | 'immutable_out_of_range'
  | 'immutable_not_proven'
  | 'library_not_deployed'
  | 'call_protection_missing';

/** A mismatch, with the data that a byte-level view needs to show the cause. */
export interface CodeMismatch {
  readonly match: null;
  readonly reason: MismatchReason;
  /**
   * Offset of the first byte that differs after the explained values are applied, in bytes. Absent if one
   * bytecode is a prefix of the other.
   */
  readonly firstDifference?: number;
  /** Number of bytes that differ within the common length. */
  readonly differingBytes: number;
  /** The part with the first difference: `code`, or an unexplained value. */
  readonly within?: 'code' | TransformationReason;
  /** Id of that library, immutable or auxdata. */
  readonly id?: string;
  /** Ranges that were given a value before the comparison, in bytes; absent if there was no byte-wise difference. */
  readonly explained?: readonly {
    readonly reason: TransformationReason;
    readonly offset: number;
    readonly length: number;
  }[];
  /** Lengths in bytes. */
  readonly recompiledLength: number;
  readonly onChainLength: number;
  /**
   * Whether both bytecodes end with the same metadata hash. Then the sources and settings are those of the
   * deployment, and the difference has another cause, such as additional files in the compilation.
   */
  readonly sameMetadata: boolean;
  /**
   * The auxdata at the end of the bytecode on chain: its compiler and the kind of its metadata hash. Absent
   * if there is none.
   */
  readonly onChainAuxdata?: TrailingAuxdata;
}

export type CodeVerdict = CodeMatch | CodeMismatch;
