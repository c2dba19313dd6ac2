/** What a byte that differs belongs to: the code itself, or a value that each deployment has for itself. */
export type ByteKind =
  'code' | 'library' | 'immutable' | 'cborAuxdata' | 'callProtection' | 'constructorArguments';

/** A stretch of bytes that may differ, and why. */
export interface ExplainedStretch {
  readonly reason: ByteKind;
  readonly offset: number;
  readonly length: number;
}

/** A run of bytes in which two codes differ; one side may have none where the lengths differ. */
interface DifferentBytes {
  /** Offset of the first byte in both codes: bytes are compared by their place, as the EVM counts them. */
  readonly offset: number;
  readonly length: number;
}

/** Where two codes differ. */
interface CodeDifference {
  readonly recompiledBytes: number;
  readonly onChainBytes: number;
  /** How many bytes of each kind differ, those included that only the longer code has. */
  readonly counts: ReadonlyMap<ByteKind, number>;
  /** The first runs in the code itself, ascending; runs that lie close together are one. */
  readonly runs: readonly DifferentBytes[];
  /** How many runs there are in all. */
  readonly runCount: number;
}

/** One byte of a row: its two digits, or nothing where the code has ended. */
export interface ShownByte {
  readonly digits: string;
  /** Present where the codes differ. */
  readonly kind?: ByteKind;
}

/** Sixteen bytes of both codes. */
interface CodeRow {
  readonly offset: number;
  readonly recompiled: readonly ShownByte[];
  readonly onChain: readonly ShownByte[];
}

/** Runs with fewer equal bytes between them than this are one. */
const NEAR_BYTES = 4;
const ROW_BYTES = 16;

const bytesOf = (code: string): readonly string[] =>
  code.replace(/^0x/, '').toLowerCase().match(/../g) ?? [];

/** The offsets at which two codes differ, each with its kind. */
function findDifferences(
  left: readonly string[],
  right: readonly string[],
  explained: readonly ExplainedStretch[],
): ReadonlyMap<number, ByteKind> {
  const found = new Map<number, ByteKind>();
  const longest = Math.max(left.length, right.length);
  for (let at = 0; at < longest; at += 1) if (left[at] !== right[at]) found.set(at, 'code');
  for (const { reason, offset, length } of explained) {
    const end = Math.min(offset + length, longest);
    for (let at = offset; at < end; at += 1) if (found.has(at)) found.set(at, reason);
  }
  return found;
}

/**
 * Compares two codes byte by byte.
 * @param limit how many runs are told at most
 */
export function compareCodes(
  recompiled: string,
  onChain: string,
  explained: readonly ExplainedStretch[],
  limit: number,
): CodeDifference {
  const [left, right] = [bytesOf(recompiled), bytesOf(onChain)];
  const counts = new Map<ByteKind, number>();
  const runs: { offset: number; length: number }[] = [];
  for (const [offset, kind] of findDifferences(left, right, explained)) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (kind !== 'code') continue;
    const last = runs.at(-1);
    if (last !== undefined && offset - (last.offset + last.length) < NEAR_BYTES) {
      last.length = offset + 1 - last.offset;
    } else runs.push({ offset, length: 1 });
  }
  return {
    recompiledBytes: left.length,
    onChainBytes: right.length,
    counts,
    runs: runs.slice(0, limit),
    runCount: runs.length,
  };
}

/**
 * The rows in which the code itself differs, each with one row before and behind it; where it does not, the rows in
 * which anything differs.
 * @param limit how many rows at most
 * @returns rows in ascending offset; where one does not follow the one before it, rows are left out
 */
export function differentRows(
  recompiled: string,
  onChain: string,
  explained: readonly ExplainedStretch[],
  limit: number,
): CodeRow[] {
  const [left, right] = [bytesOf(recompiled), bytesOf(onChain)];
  const differences = findDifferences(left, right, explained);
  const inCode = [...differences].filter(([, kind]) => kind === 'code');
  const count = Math.ceil(Math.max(left.length, right.length) / ROW_BYTES);
  const chosen = new Set<number>();
  for (const [offset] of inCode.length > 0 ? inCode : differences) {
    const row = Math.floor(offset / ROW_BYTES);
    for (const near of [row - 1, row, row + 1]) if (near >= 0 && near < count) chosen.add(near);
    if (chosen.size > limit) break;
  }
  const show = (code: readonly string[], row: number): ShownByte[] =>
    Array.from({ length: ROW_BYTES }, (_, index) => {
      const at = row * ROW_BYTES + index;
      const kind = differences.get(at);
      return { digits: code[at] ?? '', ...(kind !== undefined && { kind }) };
    });
  return [...chosen].slice(0, limit).map((row) => ({
    offset: row * ROW_BYTES,
    recompiled: show(left, row),
    onChain: show(right, row),
  }));
}
