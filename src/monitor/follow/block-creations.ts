import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type TransactionTrace } from '../../chains/creation/block-traces.ts';
import { type CreateFrame, type FrameEvent } from '../../chains/rpc/create-frames.ts';
import { isDelegation } from '../../chains/rpc/delegation.ts';
import { type Hex } from '../../lib/hex.ts';
import { type FoundCreation } from '../found-creation.ts';

/** Facts about a transaction that are known before its trace is read. */
export interface TransactionFacts {
  readonly transactionHash: Hex;
  readonly sender: Hex;
  readonly hasFailed: boolean;
  /** Contract that the transaction itself created, according to its receipt. */
  readonly contractAddress?: Hex;
  /** Absent if the receipt was not read or does not contain it. */
  readonly gasUsed?: number;
}

/** A creation whose bytecode may still have to be read. */
export interface BlockCreationCandidate extends FoundCreation {
  /**
   * Whether the state after the block decides: no trace showed the bytecode, or the contract was destroyed
   * later in the block.
   */
  readonly isOpen: boolean;
}

/**
 * A CREATE costs 32,000 gas and a transaction 21,000, of which refunds returned at most half. A transaction
 * that used less cannot have created a contract and needs no trace.
 */
const LEAST_GAS_OF_CREATION = 26_500;

const NOBODY: Hex = `0x${'00'.repeat(20)}`;

/** Returns whether a transaction may have created contracts that its receipt does not list. */
export function mayHaveInternalCreations({ gasUsed }: TransactionFacts): boolean {
  return gasUsed === undefined || gasUsed >= LEAST_GAS_OF_CREATION;
}

/** Returns the hash of a contract's bytecode; undefined for empty bytecode and for a delegation. */
export function hashCode(code: Uint8Array): Buffer | undefined {
  if (code.length === 0 || isDelegation(code)) return undefined;
  return createHash('sha256').update(code).digest();
}

type Found = { -readonly [Key in keyof BlockCreationCandidate]: BlockCreationCandidate[Key] };

/** Contracts that one transaction created and destroyed. */
interface TransactionEnd {
  readonly made: ReadonlyMap<Hex, Found>;
  readonly destroyed: ReadonlySet<Hex>;
}

/**
 * Finds the contracts that a block created, from the receipts and any traces: each address once, with its
 * last creation. Excludes contracts destroyed within their own transaction.
 * @param facts the transactions in the order of the block
 */
export function findBlockContracts(
  facts: readonly TransactionFacts[],
  traces: readonly TransactionTrace[] | undefined,
): { readonly found: readonly BlockCreationCandidate[]; readonly isTraced: boolean } {
  const byHash = new Map(traces?.map(({ transactionHash, events }) => [transactionHash, events]));
  const found = new Map<Hex, Found>();
  let isTraced = true;
  for (const [index, transaction] of facts.entries()) {
    if (transaction.hasFailed) continue;
    const events = byHash.get(transaction.transactionHash);
    const traced = events === undefined ? undefined : readEvents(transaction, index, events);
    if (traced === undefined && mayHaveInternalCreations(transaction)) isTraced = false;
    const { made, destroyed } = traced ?? readEvents(transaction, index, []) ?? NOTHING;
    for (const address of destroyed) {
      // Before Cancun this removes the contract at the end of the transaction, since Cancun it does not: the
      // state decides.
      const earlier = found.get(address);
      if (earlier !== undefined) earlier.isOpen = true;
    }
    for (const [address, creation] of made) {
      if (!destroyed.has(address)) found.set(address, creation);
    }
  }
  return { found: [...found.values()], isTraced };
}

const NOTHING: TransactionEnd = { made: new Map(), destroyed: new Set() };

/** Returns undefined if a frame has an unexpected shape. */
function readEvents(
  { transactionHash, sender, contractAddress }: TransactionFacts,
  transactionIndex: number,
  events: readonly FrameEvent[],
): TransactionEnd | undefined {
  const common = { transactionHash, transactionIndex, creator: sender };
  const made = new Map<Hex, Found>();
  const destroyed = new Set<Hex>();
  if (contractAddress !== undefined && contractAddress !== NOBODY) {
    made.set(contractAddress, { ...common, address: contractAddress, isOpen: true });
  }
  for (const event of events) {
    const { address } = event;
    if (event.kind === 'destroyed') {
      destroyed.add(address);
      continue;
    }
    const frame = readFrame(event.read);
    if (frame === undefined) return undefined;
    const { deployer, runtimeCode } = frame;
    const codeHash = runtimeCode === undefined ? undefined : hashCode(runtimeCode);
    const isNone = runtimeCode !== undefined && codeHash === undefined;
    if (isNone) made.delete(address);
    else {
      made.set(address, {
        ...common,
        address,
        isOpen: codeHash === undefined,
        ...(!event.isRoot && { factory: deployer }),
        ...(codeHash !== undefined && { codeHash }),
      });
    }
  }
  return { made, destroyed };
}

function readFrame(read: () => CreateFrame): CreateFrame | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof z.ZodError) return undefined;
    throw error;
  }
}
