import { type MetadataHashKind } from '../../bytecode/auxdata.ts';
import { hashMetadataInSteps } from '../../bytecode/metadata-hash.ts';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { keccak256InTurns } from '../../lib/steady-keccak.ts';
import { Turns } from '../../lib/turns.ts';

/** The keccak256 of a content, however large, beside other work of the thread. */
export async function hashContent(bytes: Uint8Array, turns = new Turns()): Promise<Hex> {
  return bytesToHex(await keccak256InTurns(bytes, turns));
}

/** The hash by which code names these bytes as its metadata, computed beside other work of the thread. */
export async function hashMetadataSteadily(
  kind: MetadataHashKind,
  bytes: Uint8Array,
  turns = new Turns(),
): Promise<Uint8Array> {
  const steps = hashMetadataInSteps(kind, bytes);
  let step = steps.next();
  while (step.done !== true) {
    await turns.give();
    step = steps.next();
  }
  return step.value;
}
