import {
  type AuxdataPositions,
  type ImmutableReferences,
  type LinkReferences,
  type RecompiledCode,
} from './recompiled-code.ts';

/** A bytecode in a compiler's output. */
export interface CompiledCode {
  readonly object: string;
  readonly linkReferences?: LinkReferences;
  readonly immutableReferences?: ImmutableReferences;
}

/** The members of `contracts[path][name]` in a compiler's output that this module reads. */
export interface CompiledContract {
  readonly evm: {
    readonly bytecode: CompiledCode;
    readonly deployedBytecode: CompiledCode;
    readonly legacyAssembly?: unknown;
  };
  /** The compiler's long version, without `v`. */
  readonly version?: string;
}

/** The part of a standard JSON input that is edited to change the metadata. */
export interface EditableInput {
  readonly sources: Readonly<Record<string, { readonly content?: string }>>;
}

/**
 * Positions of the auxdata in a compilation.
 * - `located`: at these positions and nowhere else.
 * - `edit_needed`: one compilation is not enough; compile `changeMetadata(input)` and read again with both.
 * - `unlocated`: not even both are enough. The bytecode can still be equal on chain; the match is then
 *   partial.
 */
export type AuxdataReading =
  | {
      readonly state: 'located';
      readonly runtime: AuxdataPositions;
      readonly creation: AuxdataPositions;
      /** See {@link RecompiledCode.appendedImmutableBytes}. */
      readonly appendedImmutableBytes?: number;
      /** See {@link RecompiledCode.appendedTypes}. */
      readonly appendedTypes?: RecompiledCode['appendedTypes'];
      /** See {@link RecompiledCode.omitsAuxdataOf}. */
      readonly omitsAuxdataOf?: string;
    }
  | { readonly state: 'edit_needed' }
  | { readonly state: 'unlocated' };

/** Locates the metadata that the compiler of a language puts into bytecode. */
export interface AuxdataReader {
  /** Returns an input that compiles to the same code with different metadata hashes. */
  changeMetadata<Input extends EditableInput>(input: Input): Input;
  /** @param edited the same contract of the compilation of `changeMetadata(input)`. */
  read(compiled: CompiledContract, edited?: CompiledContract): AuxdataReading;
}

/** Runtime and creation bytecode of a compiled contract, ready to be compared with bytecode on chain. */
export interface RecompiledCodes {
  readonly runtime: RecompiledCode;
  readonly creation: RecompiledCode;
}

/**
 * Combines a compiler's output with its auxdata reading. Auxdata that could not be located is left out.
 * @param immutableTypes by immutable id; see {@link RecompiledCode.immutableTypes}.
 */
export function toRecompiledCodes(
  { evm }: CompiledContract,
  reading: AuxdataReading,
  immutableTypes?: RecompiledCode['immutableTypes'],
): RecompiledCodes {
  const located: Partial<Extract<AuxdataReading, { state: 'located' }>> =
    reading.state === 'located' ? reading : {};
  const { runtime = {}, creation = {}, appendedImmutableBytes: appended } = located;
  const { appendedTypes, omitsAuxdataOf } = located;
  return {
    runtime: {
      code: evm.deployedBytecode.object,
      linkReferences: evm.deployedBytecode.linkReferences ?? {},
      immutableReferences: evm.deployedBytecode.immutableReferences ?? {},
      ...(immutableTypes && { immutableTypes }),
      ...(appended !== undefined && { appendedImmutableBytes: appended }),
      ...(appendedTypes && { appendedTypes }),
      ...(omitsAuxdataOf !== undefined && { omitsAuxdataOf }),
      auxdata: runtime,
    },
    creation: {
      code: evm.bytecode.object,
      linkReferences: evm.bytecode.linkReferences ?? {},
      auxdata: creation,
    },
  };
}
