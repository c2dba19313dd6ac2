import { type MetadataHashKind } from '../../bytecode/auxdata.ts';
import { hashMetadataInSteps } from '../../bytecode/metadata-hash.ts';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { keccak256WithPauses } from '../../lib/paused-keccak.ts';
import { EventLoopYielder } from '../../lib/event-loop-yielder.ts';

/** Computes the keccak256 of content of any size, with pauses for other work on the thread. */
export async function hashContent(
  bytes: Uint8Array,
  pauses = new EventLoopYielder(),
): Promise<Hex> {
  return bytesToHex(await keccak256WithPauses(bytes, pauses));
}

/** Computes the hash by which bytecode names these bytes as its metadata, with pauses for other work on the thread. */
export async function hashMetadataCooperatively(
  kind: MetadataHashKind,
  bytes: Uint8Array,
  pauses = new EventLoopYielder(),
): Promise<Uint8Array> {
  const steps = hashMetadataInSteps(kind, bytes);
  let step = steps.next();
  while (step.done !== true) {
    await pauses.take();
    step = steps.next();
  }
  return step.value;
}
