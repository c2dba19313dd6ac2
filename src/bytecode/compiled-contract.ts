import {
  type AuxdataPositions,
  type ImmutableReferences,
  type LinkReferences,
  type RecompiledCode,
} from './recompiled-code.ts';

/** One code in a compiler's output. */
export interface CompiledCode {
  readonly object: string;
  readonly linkReferences?: LinkReferences;
  readonly immutableReferences?: ImmutableReferences;
}

/** What this module reads of `contracts[path][name]` in a compiler's output. */
export interface CompiledContract {
  readonly evm: {
    readonly bytecode: CompiledCode;
    readonly deployedBytecode: CompiledCode;
    readonly legacyAssembly?: unknown;
  };
  /** The compiler's long version, without `v`. */
  readonly version?: string;
}

/** The part of a standard JSON input that another metadata is made by. */
export interface EditableInput {
  readonly sources: Readonly<Record<string, { readonly content?: string }>>;
}

/**
 * Where the auxdatas of a compilation are.
 * `located`: here, and nowhere else.
 * `edit_needed`: this compilation alone cannot tell; compile `changeMetadata(input)` and read again with both.
 * `unlocated`: not even both can tell. The codes can still be equal on chain; then the match is partial.
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

/** What matching needs to know of a language: where its compiler puts metadata into code. */
export interface AuxdataReader {
  /** The same input, changed so that the code stays the same and every metadata hash changes. */
  changeMetadata<Input extends EditableInput>(input: Input): Input;
  /** @param edited the same contract of the compilation of `changeMetadata(input)`. */
  read(compiled: CompiledContract, edited?: CompiledContract): AuxdataReading;
}

/** Both codes of a compiled contract, ready to be held against codes on chain. */
export interface RecompiledCodes {
  readonly runtime: RecompiledCode;
  readonly creation: RecompiledCode;
}

/**
 * Puts a compiler's output and what was read of it together. Auxdatas that could not be located are left out.
 * @param immutableTypes by the ids of immutables; see {@link RecompiledCode.immutableTypes}.
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
