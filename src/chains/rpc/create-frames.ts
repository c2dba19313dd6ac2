import { z } from 'zod';
import { type Hex } from '../../lib/hex.ts';
import { address, data } from './rpc-shapes.ts';

/** A CREATE or CREATE2 that stands: neither it nor a call around it was reverted. */
export interface CreateFrame {
  /** Who executed it: a factory, or the sender of the transaction. */
  readonly deployer: Hex;
  readonly creationCode: Buffer;
}

/** A frame of geth's callTracer; `calls` is read frame by frame, so that a deep tree needs no deep recursion. */
const callFrame = z.object({
  type: z.string(),
  from: address,
  to: address.nullish().catch(null),
  input: z.string(),
  error: z.unknown().optional(),
  calls: z.array(z.unknown()).nullish(),
});

/** The shape of an answer to debug_traceTransaction; its frames are read by {@link findCallTracerCreation}. */
export const callTrace = z.looseObject({ type: z.string() });

/**
 * The last standing CREATE or CREATE2 of this address in a tree of geth's callTracer. Undefined when there is none.
 * @throws z.ZodError when a frame has another shape.
 */
export function findCallTracerCreation(root: unknown, wanted: Hex): CreateFrame | undefined {
  let found: CreateFrame | undefined;
  const open = [root];
  while (open.length > 0) {
    const frame = callFrame.parse(open.pop());
    // What happens inside of a reverted frame never happened.
    if (frame.error !== undefined && frame.error !== null && frame.error !== '') continue;
    const creates = frame.type === 'CREATE' || frame.type === 'CREATE2';
    if (creates && frame.to === wanted) {
      found = { deployer: frame.from, creationCode: data.parse(frame.input) };
    }
    // From the end, so that frames are met in the order of their execution.
    for (const call of (frame.calls ?? []).toReversed()) open.push(call);
  }
  return found;
}

/** A frame of OpenEthereum's format. */
export const flatFrame = z.object({
  type: z.string(),
  action: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
  traceAddress: z.array(z.int().min(0)),
});
const createAction = z.object({ from: address, init: data });
const createResult = z.object({ address });

/** The shape of an answer to trace_transaction; null where the transaction is not known. */
export const flatTrace = z.array(flatFrame).nullable();
type FlatTrace = z.output<typeof flatTrace>;

/**
 * The last standing creation of this address in a trace of trace_transaction (OpenEthereum's format).
 * @throws z.ZodError when the creation has another shape.
 */
export function findFlatCreation(trace: FlatTrace, wanted: Hex): CreateFrame | undefined {
  const reverted = new Set<string>();
  let found: CreateFrame | undefined;
  for (const frame of trace ?? []) {
    const path = frame.traceAddress;
    const inReverted = path.some((_, length) => reverted.has(path.slice(0, length).join('.')));
    if (inReverted || (frame.error !== undefined && frame.error !== null)) {
      reverted.add(path.join('.'));
      continue;
    }
    if (frame.type !== 'create') continue;
    const result = createResult.safeParse(frame.result);
    if (!result.success || result.data.address !== wanted) continue;
    const { from, init } = createAction.parse(frame.action);
    found = { deployer: from, creationCode: init };
  }
  return found;
}
