// Computes keys of runtime bytecode for finding compilations that may have produced it. A key only proposes
// candidates; the replay decides.
import { createHash } from 'node:crypto';
import { METADATA_HASH_BYTES } from './auxdata.ts';

/**
 * The keys of a bytecode, computed in the same way from a compiler's output (with zeros for placeholders and
 * immutables) and from the bytecode on chain, without any data about the contract.
 *
 * In runtime bytecode, solc pushes a value as a whole: an immutable always as a `PUSH32` word, even if its
 * type is shorter, a library's address as `PUSH20`, and likewise a library's own address (via IR an
 * immutable, `PUSH32`). A linear sweep that skips operands therefore visits the same instructions in both
 * bytecodes, whatever the values are: it never reads an operand byte as an instruction. Metadata hashes are
 * cut out first, since a sweep would read them as code. After data that is not an operand, the sweep may be
 * out of step with the compiled instructions. This happens equally in both bytecodes and only matters if a
 * value follows there: then the key differs, and the bytecode is not found by it.
 */
export interface MaskedCode {
  /** SHA-256 without metadata hashes and without the operands of `PUSH20` and `PUSH32`. */
  readonly maskedHash: Uint8Array;
  /** SHA-256 without metadata hashes; for compiled bytecode, independent of comments. */
  readonly plainHash: Uint8Array;
  /** SHA-256 of all metadata hashes in order; absent if there are none. */
  readonly metadataKey?: Uint8Array;
  /** SHA-256 of the first {@link PREFIX_BYTES} of the masked bytecode. */
  readonly prefixHash: Uint8Array;
  /** Length in bytes. */
  readonly length: number;
  /**
   * Marks of the masked operands that are not zero, including their offsets. Compiler output has zeros
   * wherever a value will go, so its other operands also occur on chain: the marks of compiled bytecode must
   * be a subset of the marks on chain, otherwise the compilation does not match.
   */
  readonly constants: readonly bigint[];
}

/** Length of the prefix in which similar bytecodes of equal length agree. */
const PREFIX_BYTES = 512;

const PUSH1 = 0x60;
const PUSH20 = 0x73;
const PUSH32 = 0x7f;
const MARK_BYTES = 8;

/** The bytes before a metadata hash in an auxdata: the key, and the type and length of the value. */
const HASH_PREFIXES = ['646970667358221220', '65627a7a72305820', '65627a7a72315820'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/**
 * Finds the offsets of the metadata hashes in a bytecode, in order and without overlaps, including those of
 * nested contracts.
 */
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
      // A prefix inside a hash is part of the hash.
      if (start < end) return false;
      end = start + METADATA_HASH_BYTES;
      return true;
    });
}

/**
 * Zeroes the operands of `PUSH20` and `PUSH32`.
 * @returns the marks of the operands that were not zero
 */
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

/** Computes the keys of a runtime bytecode, either from the chain or compiled with zeros for its values. */
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
