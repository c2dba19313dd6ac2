import { type ImmutableType } from '../../bytecode/immutable-type.ts';
import { type Hex } from '../../lib/hex.ts';

/**
 * Result of a verification. `full`: the bytecode is identical and every metadata hash in it equals that of
 * the metadata these sources give. `partial`: identical except for the metadata hash.
 */
export type Match = 'full' | 'partial';

/**
 * Who verified the match: this service on request, another service whose repository was imported, or this
 * service's monitor.
 */
export type Origin = 'verified' | 'imported' | 'monitored';

/**
 * How far a match was checked here, in ascending order. `claimed`: as an import delivered it. `rechecked`:
 * the delivered transformations and values turn the delivered recompiled bytecode into the delivered bytecode
 * on chain. `recompiled`: the compiler produced that recompiled bytecode here from these sources. `verified`:
 * the bytecode was also read on chain here.
 */
export type Trust = 'claimed' | 'rechecked' | 'recompiled' | 'verified';

/** In ascending order. */
export const TRUSTS: readonly Trust[] = ['claimed', 'rechecked', 'recompiled', 'verified'];

/** A source of a compilation. The path is data, never a file system path. */
export interface Source {
  readonly path: string;
  readonly content: string;
}

/** Where the bytecode is deployed. Unknown facts are absent. */
export interface Deployment {
  readonly transactionHash?: Hex;
  readonly blockNumber?: number;
  readonly transactionIndex?: number;
  /** The account that executed CREATE or CREATE2: a factory if there was one, else the sender of the transaction. */
  readonly deployer?: Hex;
  readonly runtimeCode?: Uint8Array;
  readonly creationCode?: Uint8Array;
  /** Further claims of an import, which were not read on a chain here. */
  readonly claimed?: ClaimedDeployment;
}

/** Claims of an import about a deployment: facts and bytecode that do not prove the state of a chain. */
export interface ClaimedDeployment {
  /** -1 for an allocation of the genesis block, which has no transaction. */
  readonly blockNumber?: number;
  readonly transactionIndex?: number;
  readonly deployer?: Hex;
  readonly runtimeCode?: Uint8Array;
  /** `null` if the import states that it is unknown; in the Verifier Alliance schema, the empty bytecode. */
  readonly creationCode?: Uint8Array | null;
}

/** A compiler run with fixed inputs. Bytecode and artifacts are absent if an import cannot know them. */
export interface Compilation {
  /** `solidity`, `yul` or `vyper`; an import may name another one, such as `fe`. */
  readonly language: string;
  /** `solc` or `vyper`; for another language, its own. */
  readonly compiler: string;
  /** Long version of the compiler, without `v`: `0.8.37+commit.…`. */
  readonly version: string;
  /** The contract's name and `path:Name`. */
  readonly name: string;
  readonly fullyQualifiedName: string;
  /** The `settings` of the standard JSON input, without compilationTarget. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** abi, userdoc, devdoc, storageLayout, sources: compiler output other than bytecode. */
  readonly artifacts: Readonly<Record<string, unknown>>;
  /** The text of metadata.json, byte for byte: its hash is what the bytecode may contain. */
  readonly metadata?: string;
  readonly creationCode?: Uint8Array;
  readonly runtimeCode?: Uint8Array;
  readonly creationCodeArtifacts?: Readonly<Record<string, unknown>>;
  readonly runtimeCodeArtifacts?: Readonly<Record<string, unknown>>;
  /** Compiler input other than the standard JSON input, in the form of the Verifier Alliance. */
  readonly additionalInput?: Readonly<Record<string, unknown>>;
  /**
   * Set if an import delivered the bytecode. Nothing is judged by it, and a compilation of the same sources
   * that was made here is another one.
   */
  readonly areCodesClaimed?: true;
  readonly sources: readonly Source[];
  /**
   * Types of immutables by the compiler's ids, as far as they are known; absent if the compiler was not
   * asked. Stored to judge other bytecode. Derived from the rest, so it is not published.
   */
  readonly immutableTypes?: Readonly<Record<string, ImmutableType>>;
  /**
   * Set if some sources are not in the metadata but are needed: without them the compiler gives other
   * bytecode. No hash in the bytecode proves their text. Derived from the rest, so it is not stored.
   */
  readonly hasUnlistedSources?: boolean;
}

/** Expected differences that turn the recompiled bytecode into the bytecode on chain (Verifier Alliance form). */
export interface Transformed {
  readonly transformations: readonly Readonly<Record<string, unknown>>[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** Block at which the code on chain was read, and the labels of the endpoints that agreed on it. */
export interface CodeReading {
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly endpoints: readonly string[];
  /** Number of independent operators of these endpoints; absent in readings of earlier versions. */
  readonly witnesses?: number;
}

/** Outcome of one method of the creation search, as codes. */
export interface CreationSearchStep {
  readonly method: string;
  readonly outcome: string;
  readonly detail?: string;
  readonly durationMs: number;
}

/**
 * A contract whose sources match: what {@link file://./save-matches.ts} stores. At least one of the two
 * matches is set.
 */
export interface VerifiedContract {
  readonly chainId: number;
  /** Lower-case hex, 20 bytes. */
  readonly address: Hex;
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  readonly origin: Origin;
  /**
   * How far an imported match was checked here; absent for an unchecked claim. A match verified here has
   * trust `verified`.
   */
  readonly trust?: Exclude<Trust, 'verified'>;
  /** Source of an imported match: a short name such as a host, never a path or a credential. */
  readonly source?: string;
  readonly deployment: Deployment;
  readonly compilation: Compilation;
  readonly runtime?: Transformed;
  readonly creation?: Transformed;
  /**
   * Number of the contract's newest event when its code was about to be read; absent if it was not read. The
   * match is not stored if a later event withdrew this bytecode or this creation. Not stored itself.
   */
  readonly readAfterEvent?: string;
  /** Absent if the code on chain was not read. */
  readonly codeReading?: CodeReading;
  /** Absent if the creation transaction was not searched for. */
  readonly creationSearch?: readonly CreationSearchStep[];
}

/** How far a contract's match was checked here. */
export function trustOf({ origin, trust }: Pick<VerifiedContract, 'origin' | 'trust'>): Trust {
  return origin === 'imported' ? (trust ?? 'claimed') : 'verified';
}
