import { createHash } from 'node:crypto';
import { keccak256 } from '../lib/keccak.ts';
import { type MetadataHashKind } from './auxdata.ts';

const concat = (...parts: readonly (Uint8Array | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part)));

const SWARM_CHUNK_BYTES = 4096;
const SWARM_BRANCHES = SWARM_CHUNK_BYTES / 32;

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes));
  return length;
}

/**
 * Returns the size that one branch of a Swarm tree covers: the largest chunk size times a power of the branch
 * count that is below `length`.
 */
function branchBytes(length: number): number {
  let bytes = SWARM_CHUNK_BYTES;
  while (bytes * SWARM_BRANCHES < length) bytes *= SWARM_BRANCHES;
  return bytes;
}

function slicesOf(data: Buffer, size: number): Buffer[] {
  const count = Math.max(1, Math.ceil(data.length / size));
  return Array.from({ length: count }, (_, index) =>
    data.subarray(index * size, (index + 1) * size),
  );
}

/** Work that can be interrupted after each step; a step takes at most about a millisecond. */
type Stepwise<Result> = Generator<undefined, Result, undefined>;

function* hashEach(slices: readonly Buffer[], hash: (slice: Buffer) => Stepwise<Uint8Array>) {
  const hashes: Uint8Array[] = [];
  for (const slice of slices) hashes.push(yield* hash(slice));
  return concat(...hashes);
}

function* swarmHash0(data: Buffer): Stepwise<Uint8Array> {
  const node =
    data.length <= SWARM_CHUNK_BYTES
      ? data
      : yield* hashEach(slicesOf(data, branchBytes(data.length)), swarmHash0);
  yield;
  return keccak256(concat(lengthOf(data.length), node));
}

function merkleRoot(data: Buffer): Uint8Array {
  if (data.length <= 64) return keccak256(data);
  const middle = data.length / 2;
  return keccak256(concat(merkleRoot(data.subarray(0, middle)), merkleRoot(data.subarray(middle))));
}

/** @param isBranch whether to hash a full chunk as a node, because its siblings are nodes */
function* swarmHash1(data: Buffer, isBranch = false): Stepwise<Uint8Array> {
  const isChunk =
    data.length < SWARM_CHUNK_BYTES || (data.length === SWARM_CHUNK_BYTES && !isBranch);
  const size = branchBytes(data.length);
  const node = isChunk
    ? data
    : yield* hashEach(slicesOf(data, size), (slice) => swarmHash1(slice, size > SWARM_CHUNK_BYTES));
  const padded = concat(node, Buffer.alloc(SWARM_CHUNK_BYTES - node.length));
  yield;
  return keccak256(concat(lengthOf(data.length), merkleRoot(padded)));
}

const IPFS_CHUNK_BYTES = 256 * 1024;
const IPFS_LINKS = 174;

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

const field = (tag: number, bytes: Uint8Array): Buffer =>
  concat([tag], varint(bytes.length), bytes);

/** An IPFS block: its hash, the size of the file content below it, and the total size of the blocks. */
interface Block {
  readonly hash: Buffer;
  readonly fileBytes: number;
  readonly blockBytes: number;
}

function toBlock(bytes: Buffer, fileBytes: number, below: number): Block {
  const hash = createHash('sha256').update(bytes).digest();
  return { hash, fileBytes, blockBytes: bytes.length + below };
}

function ipfsLeaf(chunk: Buffer): Block {
  const data = chunk.length === 0 ? [] : field(0x12, chunk);
  const file = concat([0x08, 0x02], data, [0x18], varint(chunk.length));
  return toBlock(field(0x0a, file), chunk.length, 0);
}

function ipfsNode(links: readonly Block[]): Block {
  const sum = (key: 'fileBytes' | 'blockBytes'): number =>
    links.reduce((total, link) => total + link[key], 0);
  const linked = links.map(({ hash, blockBytes }) =>
    field(
      0x12,
      concat(field(0x0a, concat([0x12, 0x20], hash)), [0x12, 0, 0x18], varint(blockBytes)),
    ),
  );
  const sizes = links.map(({ fileBytes }) => [0x20, ...varint(fileBytes)]);
  const file = concat([0x08, 0x02, 0x18], varint(sum('fileBytes')), ...sizes);
  return toBlock(concat(...linked, field(0x0a, file)), sum('fileBytes'), sum('blockBytes'));
}

function* ipfsHash(data: Buffer): Stepwise<Uint8Array> {
  let level: Block[] = [];
  for (const slice of slicesOf(data, IPFS_CHUNK_BYTES)) {
    level.push(ipfsLeaf(slice));
    yield;
  }
  while (level.length > 1) {
    const nodes = Math.ceil(level.length / IPFS_LINKS);
    const below = level;
    level = Array.from({ length: nodes }, (_, index) =>
      ipfsNode(below.slice(index * IPFS_LINKS, (index + 1) * IPFS_LINKS)),
    );
  }
  return level[0]?.hash ?? Buffer.alloc(0);
}

const HASHES = {
  ipfs: ipfsHash,
  bzzr0: swarmHash0,
  bzzr1: swarmHash1,
} satisfies Record<MetadataHashKind, (data: Buffer) => Stepwise<Uint8Array>>;

/**
 * Computes the 32-byte hash of a metadata document that bytecode contains: the file hash of Swarm, version 0
 * or 1, or of IPFS (https://docs.soliditylang.org/en/latest/metadata.html, and solc's SwarmHash.cpp and
 * IpfsHash.cpp).
 */
export function hashMetadata(kind: MetadataHashKind, metadata: string): Uint8Array {
  const steps = HASHES[kind](Buffer.from(metadata, 'utf8'));
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** Does the same as {@link hashMetadata} in steps, for untrusted bytes on the main thread. */
export function hashMetadataInSteps(
  kind: MetadataHashKind,
  metadata: Uint8Array,
): Generator<undefined, Uint8Array, undefined> {
  return HASHES[kind](Buffer.from(metadata.buffer, metadata.byteOffset, metadata.byteLength));
}
