import { type ImmutableType } from '../../bytecode/immutable-type.ts';
import { type Hex } from '../../lib/hex.ts';

/**
 * The outcome of a verification. `full`: the code is identical and every metadata hash in it equals the hash
 * of the metadata that these sources give. `partial`: identical but for the metadata hash.
 */
export type Match = 'full' | 'partial';

/** Who judged the match: this service on request, another service whose repository was imported, or this service watching a chain. */
export type Origin = 'verified' | 'imported' | 'monitored';

/**
 * How far a match was checked here, in ascending order. `claimed`: as an import delivered it. `rechecked`: the delivered
 * transformations and values turn the delivered recompiled code into the delivered code on chain. `recompiled`: the
 * compiler gave that recompiled code here from these sources. `verified`: the code was read on chain here too.
 */
export type Trust = 'claimed' | 'rechecked' | 'recompiled' | 'verified';

/** In ascending order. */
export const TRUSTS: readonly Trust[] = ['claimed', 'rechecked', 'recompiled', 'verified'];

/** One source of a compilation. The path is data, never a path of a file system. */
export interface Source {
  readonly path: string;
  readonly content: string;
}

/** What runs where. A fact that is not known is absent. */
export interface Deployment {
  readonly transactionHash?: Hex;
  readonly blockNumber?: number;
  readonly transactionIndex?: number;
  /** Who executed CREATE or CREATE2: a factory where there was one, else the sender of the transaction. */
  readonly deployer?: Hex;
  readonly runtimeCode?: Uint8Array;
  readonly creationCode?: Uint8Array;
  /** What an import says beside that, which nobody here read on a chain. */
  readonly claimed?: ClaimedDeployment;
}

/** What an import says of a deployment: facts and codes that are no evidence of a chain. */
export interface ClaimedDeployment {
  /** -1 where the contract is an allocation of the genesis block, which has no transaction. */
  readonly blockNumber?: number;
  readonly transactionIndex?: number;
  readonly deployer?: Hex;
  readonly runtimeCode?: Uint8Array;
  /** `null` where the import says that it is not known, in the words of the Verifier Alliance: the code without content. */
  readonly creationCode?: Uint8Array | null;
}

/** A compiler run with fixed inputs. Codes and artifacts are absent where an import cannot know them. */
export interface Compilation {
  /** `solidity`, `yul` or `vyper`; an import may name another one, such as `fe`. */
  readonly language: string;
  /** `solc` or `vyper`; of another language, its own. */
  readonly compiler: string;
  /** The compiler's long version, without `v`: `0.8.37+commit.…`. */
  readonly version: string;
  /** The contract's name and `path:Name`. */
  readonly name: string;
  readonly fullyQualifiedName: string;
  /** The `settings` of the standard JSON input, without compilationTarget. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** abi, userdoc, devdoc, storageLayout, sources: what the compiler said beside the code. */
  readonly artifacts: Readonly<Record<string, unknown>>;
  /** The text of metadata.json, byte for byte: its hash is what the code may hold. */
  readonly metadata?: string;
  readonly creationCode?: Uint8Array;
  readonly runtimeCode?: Uint8Array;
  readonly creationCodeArtifacts?: Readonly<Record<string, unknown>>;
  readonly runtimeCodeArtifacts?: Readonly<Record<string, unknown>>;
  /** What the compiler was given beside the standard JSON input, in the form of the Verifier Alliance. */
  readonly additionalInput?: Readonly<Record<string, unknown>>;
  /**
   * Set where an import delivered the codes. Nothing is judged by them, and a compilation of the same sources that was made
   * here is another one.
   */
  readonly areCodesClaimed?: true;
  readonly sources: readonly Source[];
  /**
   * The types of immutables by the compiler's ids, as far as they are known; absent where nobody asked the compiler. Kept
   * to judge other codes by. Derived from the rest, so it is not published.
   */
  readonly immutableTypes?: Readonly<Record<string, ImmutableType>>;
  /**
   * Set where some sources are not in the metadata and are needed all the same: without them the compiler gives another
   * code. No hash in the code proves their text. Derived from the rest, so it is not stored.
   */
  readonly hasUnlistedSources?: boolean;
}

/** The expected differences that turn the recompiled code into the code on chain (Verifier Alliance form). */
export interface Transformed {
  readonly transformations: readonly Readonly<Record<string, unknown>>[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** At which block the code on chain was read, and the labels of the endpoints that agreed on it. */
export interface CodeReading {
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly endpoints: readonly string[];
  /** How many independent operators these endpoints belong to; absent in readings of versions that did not count. */
  readonly witnesses?: number;
}

/** The outcome of one method of the creation search, in codes. */
export interface CreationSearchStep {
  readonly method: string;
  readonly outcome: string;
  readonly detail?: string;
  readonly durationMs: number;
}

/** A contract whose sources match: what {@link file://./save-matches.ts} stores. At least one of the two matches is set. */
export interface VerifiedContract {
  readonly chainId: number;
  /** Lower-case hex, 20 bytes. */
  readonly address: Hex;
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  readonly origin: Origin;
  /** How far an imported match was checked here; absent where it is as it was delivered. A match judged here is verified. */
  readonly trust?: Exclude<Trust, 'verified'>;
  /** Where an imported match came from: a short name such as a host, never a path or a credential. */
  readonly source?: string;
  readonly deployment: Deployment;
  readonly compilation: Compilation;
  readonly runtime?: Transformed;
  readonly creation?: Transformed;
  /**
   * The number of the contract's newest event when its code was about to be read; absent where it was not read. The
   * match is not stored where a later event withdrew this code or this creation. Not stored itself.
   */
  readonly readAfterEvent?: string;
  /** Absent where the code on chain was not read. */
  readonly codeReading?: CodeReading;
  /** Absent where nobody searched for the creation transaction. */
  readonly creationSearch?: readonly CreationSearchStep[];
}

/** How far a contract's match was checked here. */
export function trustOf({ origin, trust }: Pick<VerifiedContract, 'origin' | 'trust'>): Trust {
  return origin === 'imported' ? (trust ?? 'claimed') : 'verified';
}
