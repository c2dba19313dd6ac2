/** A source of a standard JSON input. Only `content` is compiled: nothing is ever fetched. */
export interface StandardJsonSource {
  readonly content?: string;
  readonly urls?: readonly string[];
  readonly keccak256?: string;
}

/**
 * A compiler's standard JSON input (Solidity documentation, "Compiler Input and Output JSON Description").
 * Other fields pass through to the compiler.
 */
export interface StandardJsonInput {
  /** `Solidity` or `Yul`. */
  readonly language: string;
  readonly sources: Readonly<Record<string, StandardJsonSource>>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** A contract of an input. */
export interface CompilationTarget {
  /** Path of the source in the input. */
  readonly path: string;
  /** Name of the contract, or of the Yul object. */
  readonly name: string;
}

/** A byte range of a bytecode: offset and length. */
export interface CodeRange {
  readonly start: number;
  readonly length: number;
}

/** Placeholders of library addresses, by source, then by library. Compilers before 0.5 put both into one name. */
export type LinkReferences = Readonly<
  Record<string, Readonly<Record<string, readonly CodeRange[]>>>
>;

/** Bytecode as the compiler writes it. */
export interface CompiledCode {
  /** Hex digits without `0x`, with placeholders of 40 digits for libraries. */
  readonly object: string;
  readonly sourceMap?: string;
  readonly linkReferences?: LinkReferences;
  readonly [field: string]: unknown;
}

/**
 * Runtime bytecode as the compiler writes it; `immutableReferences` by declaration id of the immutable, since
 * 0.6.5.
 */
export interface CompiledRuntimeCode extends CompiledCode {
  readonly immutableReferences?: Readonly<Record<string, readonly CodeRange[]>>;
}

/**
 * A compiler's output for one contract. Outputs that were not selected, or that a version does not support,
 * are absent.
 */
export interface ContractOutput {
  readonly abi?: readonly unknown[];
  /** The metadata document, byte for byte as hashed into the bytecode. */
  readonly metadata?: string;
  readonly userdoc?: unknown;
  readonly devdoc?: unknown;
  readonly storageLayout?: unknown;
  readonly transientStorageLayout?: unknown;
  readonly ir?: string;
  readonly evm?: {
    readonly bytecode?: CompiledCode;
    readonly deployedBytecode?: CompiledRuntimeCode;
    readonly legacyAssembly?: unknown;
    /** Signature -> selector in hex without `0x`. Signatures of a library contain the type names of the source. */
    readonly methodIdentifiers?: unknown;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** An error, warning or info message of the compiler. Its text quotes the sources, so it is untrusted. */
export interface CompilerMessage {
  readonly severity: string;
  readonly type: string;
  readonly message: string;
  readonly formattedMessage?: string;
  readonly component?: string;
  readonly errorCode?: string;
  readonly [field: string]: unknown;
}

/** A compiler's output. `contracts` is by source, then by contract; absent if nothing compiled. */
export interface StandardJsonOutput {
  readonly errors?: readonly CompilerMessage[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, ContractOutput>>>>;
  readonly sources?: Readonly<
    Record<string, { readonly id: number; readonly [field: string]: unknown }>
  >;
  readonly [field: string]: unknown;
}
