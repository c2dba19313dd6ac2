import { z } from 'zod';
import { type Hex } from '../../lib/hex.ts';
import { address, addressOrNull, data, listOf } from './rpc-shapes.ts';

/** A CREATE or CREATE2 that stands: neither it nor a call around it was reverted. */
export interface CreateFrame {
  /** Who executed it: a factory, or the sender of the transaction. */
  readonly deployer: Hex;
  readonly creationCode: Buffer;
  /** The code that it left at the address; absent where the trace does not show it. */
  readonly runtimeCode?: Buffer;
}

/** A frame of geth's callTracer; `calls` is read frame by frame, so that a deep tree needs no deep recursion. */
const callFrame = z.object({
  type: z.string(),
  from: address,
  to: addressOrNull.optional(),
  input: z.string(),
  output: z.string().nullish(),
  error: z.unknown().optional(),
  calls: z.array(z.unknown()).nullish(),
});

/** The shape of an answer to debug_traceTransaction; its frames are read by {@link findCallTracerCreation}. */
export const callTrace = z.looseObject({ type: z.string() });

/**
 * The last CREATE or CREATE2 of this address that was not reverted, in a tree of geth's callTracer. Undefined when there is none, and
 * when the contract destroyed itself in the same transaction: then nothing of it is left at the transaction's end.
 * @throws z.ZodError when a frame has another shape.
 */
export function findCallTracerCreation(root: unknown, wanted: Hex): CreateFrame | undefined {
  let found: CreateFrame | undefined;
  let isDestroyed = false;
  const open = [root];
  while (open.length > 0) {
    const frame = callFrame.parse(open.pop());
    // What happens inside of a reverted frame never happened.
    if (frame.error !== undefined && frame.error !== null && frame.error !== '') continue;
    const creates = frame.type === 'CREATE' || frame.type === 'CREATE2';
    if (creates && frame.to === wanted) {
      found = {
        deployer: frame.from,
        creationCode: data.parse(frame.input),
        // A tracer leaves the output out where it is empty, and some leave it out always.
        ...(typeof frame.output === 'string' && { runtimeCode: data.parse(frame.output) }),
      };
    }
    if (frame.type === 'SELFDESTRUCT' && frame.from === wanted) isDestroyed = true;
    // From the end, so that frames are met in the order of their execution.
    for (const call of (frame.calls ?? []).toReversed()) open.push(call);
  }
  return isDestroyed ? undefined : found;
}

/** The EVM's own limit of nested calls. */
const CALL_DEPTH_MAX = 1025;

/** Checked in one go: an error for each of 100,000 wrong numbers would take a second. */
function isTraceAddress(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= CALL_DEPTH_MAX &&
    value.every((index) => Number.isSafeInteger(index) && index >= 0)
  );
}

/** A frame of OpenEthereum's format. */
export const flatFrame = z.object({
  type: z.string(),
  action: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
  traceAddress: z.custom<readonly number[]>(isTraceAddress),
});
const createAction = z.object({ from: address, init: data });
const createResult = z.object({ code: data.nullish() });
const named = z.looseObject({ address: addressOrNull.optional() });

/** The address that a creation made, or that destroyed itself; null in another shape. */
function namedAddress(value: unknown): Hex | null | undefined {
  return typeof value === 'object' && value !== null ? named.parse(value).address : null;
}

/** The shape of an answer to trace_transaction; null where the transaction is not known. */
export const flatTrace = listOf(flatFrame).nullable();
type FlatTrace = z.output<typeof flatTrace>;

/** A node in the tree of calls. The tree holds only reverted calls and the calls around them. */
interface CallNode {
  readonly below: Map<number, CallNode>;
  reverted: boolean;
}

const callNode = (): CallNode => ({ below: new Map(), reverted: false });

/** Whether the call at a path, or one around it, was reverted: one walk, however deep the path is. */
function isReverted(root: CallNode, path: readonly number[]): boolean {
  let node: CallNode | undefined = root;
  for (const index of path) {
    if (node === undefined || node.reverted) break;
    node = node.below.get(index);
  }
  return node?.reverted === true;
}

function noteReverted(root: CallNode, path: readonly number[]): void {
  let node = root;
  for (const index of path) {
    const next = node.below.get(index) ?? callNode();
    node.below.set(index, next);
    node = next;
  }
  node.reverted = true;
}

/**
 * The last creation of this address that was not reverted, in a trace of trace_transaction (OpenEthereum's format). Undefined when
 * there is none, and when the contract destroyed itself in the same transaction.
 * @throws z.ZodError when the creation has another shape.
 */
export function findFlatCreation(trace: FlatTrace, wanted: Hex): CreateFrame | undefined {
  const root = callNode();
  let found: CreateFrame | undefined;
  for (const frame of trace ?? []) {
    if (isReverted(root, frame.traceAddress)) continue;
    if (frame.error !== undefined && frame.error !== null) {
      noteReverted(root, frame.traceAddress);
      continue;
    }
    if (frame.type === 'suicide' || frame.type === 'selfdestruct') {
      if (namedAddress(frame.action) === wanted) return undefined;
    }
    if (frame.type !== 'create' || namedAddress(frame.result) !== wanted) continue;
    const { from, init } = createAction.parse(frame.action);
    const { code } = createResult.parse(frame.result);
    found = {
      deployer: from,
      creationCode: init,
      ...(code !== undefined && code !== null && { runtimeCode: code }),
    };
  }
  return found;
}
