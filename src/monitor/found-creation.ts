import { type Hex } from '../lib/hex.ts';

export { type MonitoredChain } from '../chains/registry/monitored-chain.ts';

/** A successful creation: the transaction and every call around the CREATE or CREATE2 succeeded. */
export interface FoundCreation {
  /** 20 bytes as lower-case hex. */
  readonly address: Hex;
  readonly transactionHash: Hex;
  readonly transactionIndex: number;
  /** Sender of the transaction. */
  readonly creator: Hex;
  /** Contract that executed the creation; absent if the transaction itself created the contract. */
  readonly factory?: Hex;
  /** SHA-256 of the bytecode that the creation left; absent if no endpoint provided it. */
  readonly codeHash?: Buffer;
}

/** Creations of one block, and whether an endpoint could provide all of them. */
export interface BlockCreations {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  /** Each address at most once. */
  readonly creations: readonly FoundCreation[];
  /** Whether contracts created by contracts are included: a trace was read, or the block needs none. */
  readonly isTraced: boolean;
}
