import { z } from 'zod';
import { type Hex } from '../../lib/hex.ts';
import { address, addressOrNull, data, listOf } from './rpc-shapes.ts';

/** An effective CREATE or CREATE2: neither it nor an enclosing call was reverted. */
export interface CreateFrame {
  /** The account that executed it: a factory, or the sender of the transaction. */
  readonly deployer: Hex;
  readonly creationCode: Buffer;
  /** The deployed code; absent if the trace omits it. */
  readonly runtimeCode?: Buffer;
}

/** A frame of geth's callTracer; `calls` is parsed frame by frame, so that a deep tree needs no deep recursion. */
const callFrame = z.object({
  type: z.string(),
  from: address,
  to: addressOrNull.optional(),
  input: z.string(),
  output: z.string().nullish(),
  error: z.unknown().optional(),
  calls: z.array(z.unknown()).nullish(),
});

/** Shape of a debug_traceTransaction response; its frames are parsed by {@link findCallTracerCreation}. */
export const callTrace = z.looseObject({ type: z.string() });

/** The transaction that a trace must belong to. */
export interface TracedTransaction {
  readonly from: Hex;
  /** Absent if the transaction creates a contract. */
  readonly to?: Hex | null | undefined;
}

/** Whether the first frame of a trace is the transaction itself; otherwise the response is not its trace. */
function isOf(
  { from, to }: TracedTransaction,
  root: {
    readonly from: Hex | null | undefined;
    readonly to: Hex | null | undefined;
    readonly creates: boolean;
  },
): boolean {
  const isTarget = to === undefined || to === null ? root.creates : !root.creates && root.to === to;
  return root.from === from && isTarget;
}

/**
 * Whether a callTracer tree belongs to a transaction.
 * @throws z.ZodError if its root has another shape
 */
export function isCallTraceOf(root: unknown, transaction: TracedTransaction): boolean {
  const { from, to, type } = callFrame.parse(root);
  return isOf(transaction, { from, to, creates: type === 'CREATE' });
}

/** Effect of a successful call on an address. */
export type FrameEvent =
  | {
      readonly kind: 'created';
      readonly address: Hex;
      /** Whether the transaction itself is the creation. */
      readonly isRoot: boolean;
      /**
       * The frame with its bytecode.
       * @throws z.ZodError if it has another shape
       */
      readonly read: () => CreateFrame;
    }
  | { readonly kind: 'destroyed'; readonly address: Hex };

/**
 * The creations and destructions in a callTracer tree, in order of execution; what is inside a reverted frame
 * never happened.
 * @throws z.ZodError if a frame has another shape
 */
export function* walkCallTracer(root: unknown): Generator<FrameEvent> {
  const open = [root];
  let isRoot = true;
  while (open.length > 0) {
    const frame = callFrame.parse(open.pop());
    const isOutermost = isRoot;
    isRoot = false;
    if (frame.error !== undefined && frame.error !== null && frame.error !== '') continue;
    const creates = frame.type === 'CREATE' || frame.type === 'CREATE2';
    if (creates && typeof frame.to === 'string') {
      const read = (): CreateFrame => ({
        deployer: frame.from,
        creationCode: data.parse(frame.input),
        // Tracers omit an empty output, and some always omit it.
        ...(typeof frame.output === 'string' && { runtimeCode: data.parse(frame.output) }),
      });
      yield { kind: 'created', address: frame.to, isRoot: isOutermost, read };
    }
    if (frame.type === 'SELFDESTRUCT') yield { kind: 'destroyed', address: frame.from };
    // In reverse, so that frames are visited in order of execution.
    for (const call of (frame.calls ?? []).toReversed()) open.push(call);
  }
}

/**
 * The last CREATE or CREATE2 of this address that was not reverted, in a callTracer tree. Undefined if there
 * is none, or if the contract destroyed itself in the same transaction: then nothing of it is left at the
 * transaction's end.
 * @throws z.ZodError if a frame has another shape
 */
export function findCallTracerCreation(root: unknown, wanted: Hex): CreateFrame | undefined {
  return findCreation(walkCallTracer(root), wanted);
}

/** Remaining creations of one address at the end of a transaction. */
function findCreation(events: Iterable<FrameEvent>, wanted: Hex): CreateFrame | undefined {
  let found: CreateFrame | undefined;
  let isDestroyed = false;
  for (const event of events) {
    if (event.address !== wanted) continue;
    if (event.kind === 'created') found = event.read();
    else isDestroyed = true;
  }
  return isDestroyed ? undefined : found;
}

/** The EVM's own limit of nested calls. */
const CALL_DEPTH_MAX = 1025;

/** Validated as a whole: an error for each of 100,000 invalid numbers would take a second. */
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

/** The address that was created or destroyed; null if the shape differs. */
function namedAddress(value: unknown): Hex | null | undefined {
  return typeof value === 'object' && value !== null ? named.parse(value).address : null;
}

/** Shape of a trace_transaction response; null if the transaction is unknown. */
export const flatTrace = listOf(flatFrame).nullable();
type FlatTrace = z.output<typeof flatTrace>;

const rootAction = z.looseObject({ from: addressOrNull.optional(), to: addressOrNull.optional() });

/**
 * Whether a trace of trace_transaction is of a transaction. Some nodes answer with no frames for a transaction whose state
 * they do not have.
 * @throws z.ZodError when the first frame has another shape.
 */
export function isFlatTraceOf(trace: FlatTrace, transaction: TracedTransaction): boolean {
  const root = trace?.find(({ traceAddress }) => traceAddress.length === 0);
  if (root === undefined) return false;
  const { from, to } = rootAction.parse(root.action);
  return isOf(transaction, { from, to, creates: root.type === 'create' });
}

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
 * The creations and destructions in a trace of trace_transaction or trace_block (OpenEthereum's format) of one
 * transaction, in the order of their execution.
 * @throws z.ZodError when the object that should name an address has another shape.
 */
export function* walkFlatTrace(trace: FlatTrace): Generator<FrameEvent> {
  const root = callNode();
  for (const frame of trace ?? []) {
    if (isReverted(root, frame.traceAddress)) continue;
    if (frame.error !== undefined && frame.error !== null) {
      noteReverted(root, frame.traceAddress);
      continue;
    }
    if (frame.type === 'suicide' || frame.type === 'selfdestruct') {
      const destroyed = namedAddress(frame.action);
      if (typeof destroyed === 'string') yield { kind: 'destroyed', address: destroyed };
    }
    if (frame.type !== 'create') continue;
    const made = namedAddress(frame.result);
    if (typeof made !== 'string') continue;
    const read = (): CreateFrame => {
      const { from, init } = createAction.parse(frame.action);
      const { code } = createResult.parse(frame.result);
      return {
        deployer: from,
        creationCode: init,
        ...(code !== undefined && code !== null && { runtimeCode: code }),
      };
    };
    yield { kind: 'created', address: made, isRoot: frame.traceAddress.length === 0, read };
  }
}

/**
 * The last creation of this address that was not reverted, in a trace of trace_transaction (OpenEthereum's format). Undefined when
 * there is none, and when the contract destroyed itself in the same transaction.
 * @throws z.ZodError when the creation has another shape.
 */
export function findFlatCreation(trace: FlatTrace, wanted: Hex): CreateFrame | undefined {
  return findCreation(walkFlatTrace(trace), wanted);
}
