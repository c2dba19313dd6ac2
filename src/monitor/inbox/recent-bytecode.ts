import { LRUCache } from 'lru-cache';
import { type DeployedCode } from '../../chains/rpc/deployed-code.ts';
import { type WaitingCreation } from './inbox-table.ts';

const KEPT_MS = 10_000;
const MAX_KEPT = 64;

/** Bytecode that the first stage just read, so that the second one does not read it from the chain again. */
export class RecentBytecode {
  readonly #kept = new LRUCache<string, DeployedCode>({ max: MAX_KEPT, ttl: KEPT_MS });

  /** Keeps bytecode for the second stage. */
  keep(creation: WaitingCreation, code: DeployedCode): void {
    this.#kept.set(keyOf(creation), code);
  }

  /** Returns recently read bytecode, and forgets it. */
  take(creation: WaitingCreation): DeployedCode | undefined {
    const key = keyOf(creation);
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    return kept;
  }
}

function keyOf({ chainId, address, blockNumber }: WaitingCreation): string {
  return `${chainId} ${address} ${blockNumber}`;
}
