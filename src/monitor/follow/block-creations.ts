import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type TransactionTrace } from '../../chains/creation/block-traces.ts';
import { type CreateFrame, type FrameEvent } from '../../chains/rpc/create-frames.ts';
import { isDelegation } from '../../chains/rpc/delegation.ts';
import { type Hex } from '../../lib/hex.ts';
import { type SeenCreation } from '../seen-creation.ts';

/** What is known of one transaction of a block before its trace is read. */
export interface TransactionFacts {
  readonly transactionHash: Hex;
  readonly sender: Hex;
  readonly hasFailed: boolean;
  /** The contract that the transaction itself created, by its receipt. */
  readonly contractAddress?: Hex;
  /** Absent where the receipt was not read or does not say. */
  readonly gasUsed?: number;
}

/** A creation whose code may still have to be asked for. */
export interface FoundInBlock extends SeenCreation {
  /** Whether the state after the block decides: no trace showed the code, or the contract ended later in the block. */
  readonly isOpen: boolean;
}

/**
 * A CREATE costs 32,000 and a transaction 21,000, of which refunds gave back half at the most: what used less has
 * created nothing, so no trace of it is needed.
 */
const LEAST_GAS_OF_CREATION = 26_500;

const NOBODY: Hex = `0x${'00'.repeat(20)}`;

/** Whether a transaction may have created contracts that its receipt does not name. */
export function mayCreateWithin({ gasUsed }: TransactionFacts): boolean {
  return gasUsed === undefined || gasUsed >= LEAST_GAS_OF_CREATION;
}

/** The hash of code that makes a contract; undefined where it makes none. */
export function hashCode(code: Uint8Array): Buffer | undefined {
  if (code.length === 0 || isDelegation(code)) return undefined;
  return createHash('sha256').update(code).digest();
}

type Found = { -readonly [Key in keyof FoundInBlock]: FoundInBlock[Key] };

/** What one transaction made and ended. */
interface TransactionEnd {
  readonly made: ReadonlyMap<Hex, Found>;
  readonly destroyed: ReadonlySet<Hex>;
}

/**
 * What a block created, each address once, the last creation of it: by the receipts, and by the traces where there are
 * some. Contracts that ended in their own transaction are none.
 * @param facts the transactions in the order of the block
 */
export function findBlockContracts(
  facts: readonly TransactionFacts[],
  traces: readonly TransactionTrace[] | undefined,
): { readonly found: readonly FoundInBlock[]; readonly isTraced: boolean } {
  const byHash = new Map(traces?.map(({ transactionHash, events }) => [transactionHash, events]));
  const found = new Map<Hex, Found>();
  let isTraced = true;
  for (const [index, transaction] of facts.entries()) {
    if (transaction.hasFailed) continue;
    const events = byHash.get(transaction.transactionHash);
    const traced = events === undefined ? undefined : readEvents(transaction, index, events);
    if (traced === undefined && mayCreateWithin(transaction)) isTraced = false;
    const { made, destroyed } = traced ?? readEvents(transaction, index, []) ?? NOTHING;
    for (const address of destroyed) {
      // Before Cancun the contract is gone at the end of its transaction, and since then it stays: the state decides.
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

/** Undefined where a frame has another shape. */
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
