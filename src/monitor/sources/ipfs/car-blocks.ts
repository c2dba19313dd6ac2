import { type BlockCid, verifiesBlock, readCid } from './cid.ts';
import { ProtobufFault, readVarint } from './protobuf-fields.ts';

/** A block in an archive, with the CID against which it was verified. */
interface ArchivedBlock {
  readonly cid: BlockCid;
  readonly bytes: Uint8Array;
}

/** Most blocks of an archive that are read; each costs a hash. */
const MAX_BLOCKS = 4096;

/**
 * Finds the next section of an archive: its length, then that many bytes. Returns undefined at the end or if
 * the archive is truncated.
 */
function readPart(bytes: Uint8Array, offset: number): { from: number; to: number } | undefined {
  if (offset >= bytes.length) return undefined;
  try {
    const { value, end } = readVarint(bytes, offset);
    return end + value <= bytes.length ? { from: end, to: end + value } : undefined;
  } catch (error) {
    if (error instanceof ProtobufFault) return undefined;
    throw error;
  }
}

/**
 * Yields the valid blocks of an archive (CAR version 1, https://ipld.io/specs/transport/car/carv1/) up to the
 * first invalid part. The roots in the header are irrelevant: each block is verified by its hash.
 */
export function* readCarBlocks(bytes: Uint8Array): Generator<ArchivedBlock, void, undefined> {
  let part = readPart(bytes, 0);
  for (let blocks = 0; part !== undefined && blocks < MAX_BLOCKS; blocks += 1) {
    part = readPart(bytes, part.to);
    if (part === undefined) return;
    const section = bytes.subarray(part.from, part.to);
    const read = readCid(section);
    if (read === undefined) return;
    // A block that this service cannot verify is not one that it requested.
    if (read.cid === undefined) continue;
    const block = section.subarray(read.length);
    if (!verifiesBlock(read.cid, block)) return;
    yield { cid: read.cid, bytes: block };
  }
}
