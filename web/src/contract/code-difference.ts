/** A run of bytes in which two codes differ; one side may have none where the lengths differ. */
export interface DifferentBytes {
  /** Offset of the first byte in both codes: bytes are compared by their place, as the EVM counts them. */
  readonly offset: number;
  readonly length: number;
}

/** Where two codes differ. */
export interface CodeDifference {
  readonly recompiledBytes: number;
  readonly onChainBytes: number;
  /** How many bytes differ, those included that only the longer code has. */
  readonly differentBytes: number;
  /** The first runs, ascending; runs that lie close together are one. */
  readonly runs: readonly DifferentBytes[];
  /** How many runs there are in all. */
  readonly runCount: number;
}

/** Runs with fewer equal bytes between them than this are one. */
const NEAR_BYTES = 4;

const digitsOf = (code: string): string => code.replace(/^0x/, '').toLowerCase();

/**
 * Compares two codes byte by byte.
 * @param limit how many runs are told at most
 */
export function compareCodes(recompiled: string, onChain: string, limit = 50): CodeDifference {
  const [left, right] = [digitsOf(recompiled), digitsOf(onChain)];
  const recompiledBytes = left.length >> 1;
  const onChainBytes = right.length >> 1;
  const longest = Math.max(recompiledBytes, onChainBytes);
  const runs: { offset: number; length: number }[] = [];
  let differentBytes = 0;
  for (let offset = 0; offset < longest; offset += 1) {
    const at = offset * 2;
    if (
      offset < recompiledBytes &&
      offset < onChainBytes &&
      left.charCodeAt(at) === right.charCodeAt(at) &&
      left.charCodeAt(at + 1) === right.charCodeAt(at + 1)
    ) {
      continue;
    }
    differentBytes += 1;
    const last = runs.at(-1);
    if (last !== undefined && offset - (last.offset + last.length) < NEAR_BYTES) {
      last.length = offset + 1 - last.offset;
    } else runs.push({ offset, length: 1 });
  }
  return {
    recompiledBytes,
    onChainBytes,
    differentBytes,
    runs: runs.slice(0, limit),
    runCount: runs.length,
  };
}

/** One byte of a row: its two digits, or nothing where the code has ended. */
export interface ShownByte {
  readonly digits: string;
  readonly differs: boolean;
}

/** Sixteen bytes of both codes. */
export interface CodeRow {
  readonly offset: number;
  readonly recompiled: readonly ShownByte[];
  readonly onChain: readonly ShownByte[];
}

const ROW_BYTES = 16;

/**
 * The rows in which codes differ, each with one equal row before and behind it.
 * @param limit how many rows at most
 * @returns rows in ascending offset; where one does not follow the one before it, equal rows are left out
 */
export function differentRows(recompiled: string, onChain: string, limit = 64): CodeRow[] {
  const [left, right] = [digitsOf(recompiled), digitsOf(onChain)];
  const rowDigits = ROW_BYTES * 2;
  const count = Math.ceil(Math.max(left.length, right.length) / rowDigits);
  const chosen = new Set<number>();
  for (let row = 0; row < count && chosen.size < limit; row += 1) {
    const [from, to] = [row * rowDigits, (row + 1) * rowDigits];
    if (left.slice(from, to) === right.slice(from, to)) continue;
    for (const near of [row - 1, row, row + 1]) if (near >= 0 && near < count) chosen.add(near);
  }
  return [...chosen]
    .sort((a, b) => a - b)
    .slice(0, limit)
    .map((row) => {
      const bytes = (own: string, other: string): ShownByte[] => {
        const shown: ShownByte[] = [];
        for (let at = row * rowDigits; at < (row + 1) * rowDigits; at += 2) {
          const digits = own.slice(at, at + 2);
          shown.push({ digits, differs: digits !== other.slice(at, at + 2) });
        }
        return shown;
      };
      return {
        offset: row * ROW_BYTES,
        recompiled: bytes(left, right),
        onChain: bytes(right, left),
      };
    });
}
