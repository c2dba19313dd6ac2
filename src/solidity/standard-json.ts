/** One source of a standard JSON input. Only `content` is compiled: nothing is ever fetched. */
export interface StandardJsonSource {
  readonly content?: string;
  readonly urls?: readonly string[];
  readonly keccak256?: string;
}

/**
 * What a compiler is given: the standard JSON input of the Solidity documentation ("Compiler Input and Output JSON
 * Description"). Fields that are not named here pass through to the compiler.
 */
export interface StandardJsonInput {
  /** `Solidity` or `Yul`. */
  readonly language: string;
  readonly sources: Readonly<Record<string, StandardJsonSource>>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** One contract of an input. */
export interface CompilationTarget {
  /** The source's name in the input. */
  readonly path: string;
  /** The contract's name; of a Yul object its own. */
  readonly name: string;
}

/** A byte range of code: offset and length in bytes. */
export interface CodeRange {
  readonly start: number;
  readonly length: number;
}

/** Where library addresses are missing: by source, then by library. Compilers before 0.5 put both into one name. */
export type LinkReferences = Readonly<
  Record<string, Readonly<Record<string, readonly CodeRange[]>>>
>;

/** Compiled code as the compiler writes it. */
export interface CompiledCode {
  /** Hex digits without `0x`; placeholders of 40 digits stand where libraries are linked. */
  readonly object: string;
  readonly sourceMap?: string;
  readonly linkReferences?: LinkReferences;
  readonly [field: string]: unknown;
}

/** Runtime code as the compiler writes it; `immutableReferences` by the id of the immutable's declaration, since 0.6.5. */
export interface CompiledRuntimeCode extends CompiledCode {
  readonly immutableReferences?: Readonly<Record<string, readonly CodeRange[]>>;
}

/** What a compiler says about one contract. What was not selected, or what a version does not know, is absent. */
export interface ContractOutput {
  readonly abi?: readonly unknown[];
  /** The metadata document, byte for byte as it is hashed into the code. */
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
    /** Signature → selector in hex without `0x`. Those of a library name its types as the source does. */
    readonly methodIdentifiers?: unknown;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** An error, warning or remark of the compiler. Its texts quote the sources: they are as hostile as these. */
export interface CompilerMessage {
  readonly severity: string;
  readonly type: string;
  readonly message: string;
  readonly formattedMessage?: string;
  readonly component?: string;
  readonly errorCode?: string;
  readonly [field: string]: unknown;
}

/** What a compiler answers. `contracts` is by source, then by contract; it is absent when nothing compiled. */
export interface StandardJsonOutput {
  readonly errors?: readonly CompilerMessage[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, ContractOutput>>>>;
  readonly sources?: Readonly<
    Record<string, { readonly id: number; readonly [field: string]: unknown }>
  >;
  readonly [field: string]: unknown;
}
