import { type Hex } from '../lib/hex.ts';

export { type MonitoredChain } from '../chains/registry/monitored-chain.ts';

/** A creation that stands: the transaction succeeded, and so did every call around the CREATE or CREATE2. */
export interface SeenCreation {
  /** Lower-case hex, 20 bytes. */
  readonly address: Hex;
  readonly transactionHash: Hex;
  readonly transactionIndex: number;
  /** The sender of the transaction. */
  readonly creator: Hex;
  /** The contract that executed the creation; absent where the transaction itself created the contract. */
  readonly factory?: Hex;
  /** SHA-256 of the code that the creation left; absent where no endpoint showed that code. */
  readonly codeHash?: Buffer;
}

/** What one block created, and how much of it an endpoint could show. */
export interface BlockCreations {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  /** Each address once. */
  readonly creations: readonly SeenCreation[];
  /** Whether contracts made by contracts are among the creations: a trace was read, or the block needs none. */
  readonly isTraced: boolean;
}
