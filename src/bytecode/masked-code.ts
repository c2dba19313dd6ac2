// Gives running code keys under which the compilations that may have made it are found. A key proposes; only the replay judges.
import { createHash } from 'node:crypto';
import { METADATA_HASH_BYTES } from './auxdata.ts';

/**
 * The keys of a code, computed alike from a compiler's output (with zeros for placeholders and immutables) and from the
 * code on chain, without a word about the contract.
 *
 * Where a value goes into running code, solc pushes it whole: an immutable is always `PUSH32` of a word, also where its
 * type is shorter, a library's address `PUSH20`, and so is a library's own address (via IR an immutable, `PUSH32`).
 * So a sweep over the instructions that skips operands comes by the same places in both codes, whatever the values are:
 * it never reads a byte of an operand as an instruction. Metadata hashes are cut out before, since a sweep runs through
 * them as if they were code. Behind data that no instruction skips the sweep may be out of step with what was compiled. It is so in both
 * codes, and goes wrong only where a value lies there: then the key is another one, and the code is not found by it.
 */
export interface MaskedCode {
  /** SHA-256 without metadata hashes and without the operands of `PUSH20` and `PUSH32`. */
  readonly maskedHash: Uint8Array;
  /** SHA-256 without metadata hashes: of a compiled code, whatever its comments say. */
  readonly plainHash: Uint8Array;
  /** SHA-256 of all metadata hashes in their order; absent where the code has none. */
  readonly metadataKey?: Uint8Array;
  /** SHA-256 of the first {@link PREFIX_BYTES} of the masked code. */
  readonly prefixHash: Uint8Array;
  /** Length in bytes. */
  readonly length: number;
  /**
   * Marks of those masked operands that are not zero, each with its place. A compiler's output has zeros wherever a value
   * will go, so what is left is there on chain as well: the marks of a compiled code are among those of the code on
   * chain, or it did not make that code.
   */
  readonly constants: readonly bigint[];
}

/** How much of the beginning of a masked code makes it similar to another of its length. */
const PREFIX_BYTES = 512;

const PUSH1 = 0x60;
const PUSH20 = 0x73;
const PUSH32 = 0x7f;
const MARK_BYTES = 8;

/** What stands before a metadata hash in an auxdata: the key, and the kind and length of the value. */
const HASH_PREFIXES = ['646970667358221220', '65627a7a72305820', '65627a7a72315820'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** Where the metadata hashes of a code begin, in order and apart from each other; also those of codes within it. */
function findMetadataHashes(code: Buffer): readonly number[] {
  const found = HASH_PREFIXES.flatMap((prefix) => {
    const starts: number[] = [];
    for (let at = code.indexOf(prefix); at !== -1; at = code.indexOf(prefix, at + prefix.length)) {
      const start = at + prefix.length;
      if (start + METADATA_HASH_BYTES <= code.length) starts.push(start);
    }
    return starts;
  });
  let end = 0;
  return found
    .sort((left, right) => left - right)
    .filter((start) => {
      // A prefix within a hash is a part of the hash.
      if (start < end) return false;
      end = start + METADATA_HASH_BYTES;
      return true;
    });
}

/** Zeroes the operands of `PUSH20` and `PUSH32`. @returns the marks of those that were not zero */
function maskOperands(code: Buffer): readonly bigint[] {
  const constants: bigint[] = [];
  for (let at = 0; at < code.length; at += 1) {
    const opcode = code[at] ?? 0;
    if (opcode < PUSH1 || opcode > PUSH32) continue;
    const end = at + 1 + opcode - PUSH1 + 1;
    if (opcode === PUSH20 || opcode === PUSH32) {
      const operand = code.subarray(at + 1, end);
      if (operand.some((byte) => byte !== 0)) constants.push(markOf(at, operand));
      operand.fill(0);
    }
    at = end - 1;
  }
  return constants;
}

function markOf(offset: number, operand: Uint8Array): bigint {
  const place = Buffer.alloc(4);
  place.writeUInt32BE(offset);
  const digest = createHash('sha256').update(place).update(operand).digest();
  return digest.subarray(0, MARK_BYTES).readBigInt64BE();
}

/** Computes the keys of a running code: of the code on chain, or of one compiled with zeros for what it will be given. */
export function maskCode(code: Uint8Array): MaskedCode {
  const masked = Buffer.from(code);
  const hashes = findMetadataHashes(masked);
  const metadata = createHash('sha256');
  for (const start of hashes) {
    const hash = masked.subarray(start, start + METADATA_HASH_BYTES);
    metadata.update(hash);
    hash.fill(0);
  }
  const plainHash = sha256(masked);
  const constants = maskOperands(masked);
  return {
    maskedHash: sha256(masked),
    plainHash,
    ...(hashes.length > 0 && { metadataKey: metadata.digest() }),
    prefixHash: sha256(masked.subarray(0, PREFIX_BYTES)),
    length: masked.length,
    constants,
  };
}
