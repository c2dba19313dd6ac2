import { type BlockCid, isBlockOf, readCid } from './cid.ts';
import { ProtobufFault, readVarint } from './protobuf-fields.ts';

/** A block of an archive, with the hash that it was checked against. */
interface ArchivedBlock {
  readonly cid: BlockCid;
  readonly bytes: Uint8Array;
}

/** Blocks of an archive that are looked at; each costs a hash. */
const MOST_BLOCKS = 4096;

/** The next part of an archive: its length, then as many bytes. Undefined at the end, and where the archive is cut. */
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
 * The sound blocks of an archive (CAR version 1, https://ipld.io/specs/transport/car/carv1/) up to the first thing that is
 * not sound. What the header says about roots does not matter: a block is what its hash says.
 */
export function* readCarBlocks(bytes: Uint8Array): Generator<ArchivedBlock, void, undefined> {
  let part = readPart(bytes, 0);
  for (let blocks = 0; part !== undefined && blocks < MOST_BLOCKS; blocks += 1) {
    part = readPart(bytes, part.to);
    if (part === undefined) return;
    const section = bytes.subarray(part.from, part.to);
    const read = readCid(section);
    if (read === undefined) return;
    // A block that this service cannot check is none that it asked for.
    if (read.cid === undefined) continue;
    const block = section.subarray(read.length);
    if (!isBlockOf(read.cid, block)) return;
    yield { cid: read.cid, bytes: block };
  }
}
