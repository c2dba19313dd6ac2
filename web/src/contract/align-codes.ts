/** A section of two aligned bytecodes: equal bytes, replaced bytes, or bytes that only one of them has. */
export interface AlignedSection {
  readonly sort: 'equal' | 'changed' | 'inserted' | 'missing';
  /** Start in each bytecode; if one has none of the bytes, the position at which they would be. */
  readonly recompiledAt: number;
  readonly onChainAt: number;
  readonly length: number;
}

type Bytes = ArrayLike<number>;

/** Ranges of both bytecodes to compare: `left` from …At up to …End, and so `right`. */
interface Gap {
  readonly leftAt: number;
  readonly leftEnd: number;
  readonly rightAt: number;
  readonly rightEnd: number;
}

interface EqualRun {
  readonly leftAt: number;
  readonly rightAt: number;
  readonly length: number;
}

/** Lengths of the compared windows in bytes. Each length is tried between the matches of the previous one. */
const WINDOWS = [32, 16, 8];
const ABSENT = -1;
const REPEATED = -2;
/** Any odd number works; this is the prime of the FNV hashes. */
const HASH_BASE = 0x01_00_01_93;
/** Maximum slots probed for a window. Only crafted input needs more. */
const MAX_SLOTS = 64;

/**
 * Aligns two bytecodes: common bytes share a row, also after bytes that one of them lacks. Windows that occur
 * once in both are anchors. The longest ascending sequence of anchors is kept, and equal bytes are extended
 * around them (as in a patience diff). Each byte is read a bounded number of times, for any input.
 * @returns sections that cover each byte of both bytecodes once, ascending
 */
export function alignCodes(recompiled: Bytes, onChain: Bytes): AlignedSection[] {
  const leftEnd = recompiled.length;
  const rightEnd = onChain.length;
  const whole = { leftAt: 0, leftEnd, rightAt: 0, rightEnd };
  const stretches: AlignedSection[] = [];
  let [left, right] = [0, 0];
  const add = (sort: AlignedSection['sort'], length: number): void => {
    const last = stretches.at(-1);
    if (length === 0) return;
    if (last?.sort === sort)
      stretches[stretches.length - 1] = { ...last, length: last.length + length };
    else stretches.push({ sort, recompiledAt: left, onChainAt: right, length });
    if (sort !== 'inserted') left += length;
    if (sort !== 'missing') right += length;
  };
  for (const run of [
    ...findEqual(recompiled, onChain, whole, WINDOWS),
    { leftAt: leftEnd, rightAt: rightEnd, length: 0 },
  ]) {
    add('changed', Math.min(run.leftAt - left, run.rightAt - right));
    add('missing', run.leftAt - left);
    add('inserted', run.rightAt - right);
    add('equal', run.length);
  }
  return stretches;
}

/** Runs of equal bytes in a gap, ascending in both bytecodes. */
function findEqual(left: Bytes, right: Bytes, gap: Gap, windows: readonly number[]): EqualRun[] {
  const [size, ...smaller] = windows;
  const inPlace = findInPlace(left, right, gap);
  const isSameLength = gap.leftEnd - gap.leftAt === gap.rightEnd - gap.rightAt;
  const differentInPlace = countDifferent(gap, inPlace);
  if (size === undefined || (isSameLength && differentInPlace < size)) return inPlace;
  const anchored: EqualRun[] = [];
  let { leftAt, rightAt } = gap;
  const end = { leftAt: gap.leftEnd, rightAt: gap.rightEnd, length: 0 };
  const anchors = growAnchors(left, right, gap, size);
  for (const run of [...anchors, end]) {
    const between = { leftAt, leftEnd: run.leftAt, rightAt, rightEnd: run.rightAt };
    for (const each of findEqual(left, right, between, smaller)) anchored.push(each);
    anchored.push(run);
    [leftAt, rightAt] = [run.leftAt + run.length, run.rightAt + run.length];
  }
  const differentAnchored = countDifferent(gap, anchored);
  const isBetterInPlace = isSameLength
    ? differentInPlace <= differentAnchored
    : differentInPlace < differentAnchored;
  return isBetterInPlace ? inPlace : anchored;
}

/** Number of bytes of a gap that differ or have no counterpart. */
function countDifferent(gap: Gap, runs: readonly EqualRun[]): number {
  let different = 0;
  let { leftAt, rightAt } = gap;
  const end = { leftAt: gap.leftEnd, rightAt: gap.rightEnd, length: 0 };
  for (const run of [...runs, end]) {
    different += Math.max(run.leftAt - leftAt, run.rightAt - rightAt);
    [leftAt, rightAt] = [run.leftAt + run.length, run.rightAt + run.length];
  }
  return different;
}

/** Equal bytes of a gap at its end, if only those are equal, else at its beginning. */
function findInPlace(left: Bytes, right: Bytes, gap: Gap): EqualRun[] {
  const { leftAt, rightAt, leftEnd, rightEnd } = gap;
  const shorter = Math.min(leftEnd - leftAt, rightEnd - rightAt);
  let first = 0;
  while (first < shorter && left[leftAt + first] === right[rightAt + first]) first += 1;
  let last = 0;
  while (last < shorter - first && left[leftEnd - 1 - last] === right[rightEnd - 1 - last])
    last += 1;
  const runs: EqualRun[] = [{ leftAt, rightAt, length: first }];
  for (let at = first; at < shorter - last;) {
    let length = 0;
    while (
      at + length < shorter - last &&
      left[leftAt + at + length] === right[rightAt + at + length]
    ) {
      length += 1;
    }
    if (length > 0) runs.push({ leftAt: leftAt + at, rightAt: rightAt + at, length });
    at += length + 1;
  }
  runs.push({ leftAt: leftEnd - last, rightAt: rightEnd - last, length: last });
  return runs.filter(({ length }) => length > 0);
}

/** Equal runs around windows that occur once on each side of a gap. */
function growAnchors(left: Bytes, right: Bytes, gap: Gap, size: number): EqualRun[] {
  const runs: EqualRun[] = [];
  let { leftAt: leftDone, rightAt: rightDone } = gap;
  for (const [leftAnchor, rightAnchor] of findAnchors(left, right, gap, size)) {
    if (leftAnchor < leftDone || rightAnchor < rightDone) continue;
    let [leftAt, rightAt] = [leftAnchor, rightAnchor];
    let length = 0;
    while (
      leftAt + length < gap.leftEnd &&
      rightAt + length < gap.rightEnd &&
      left[leftAt + length] === right[rightAt + length]
    ) {
      length += 1;
    }
    // Other bytes may have the same hash.
    if (length < size) continue;
    while (leftAt > leftDone && rightAt > rightDone && left[leftAt - 1] === right[rightAt - 1]) {
      [leftAt, rightAt, length] = [leftAt - 1, rightAt - 1, length + 1];
    }
    runs.push({ leftAt, rightAt, length });
    [leftDone, rightDone] = [leftAt + length, rightAt + length];
  }
  return runs;
}

/** Positions of windows that occur once on each side of a gap: the longest sequence that ascends in both. */
function findAnchors(
  left: Bytes,
  right: Bytes,
  gap: Gap,
  size: number,
): (readonly [number, number])[] {
  const here = new WindowIndex(left, gap.leftAt, gap.leftEnd, size);
  const there = new WindowIndex(right, gap.rightAt, gap.rightEnd, size);
  const anchors: (readonly [number, number])[] = [];
  for (const [index, hash] of here.hashes.entries()) {
    const at = gap.leftAt + index;
    if (here.placeOf(hash) !== at) continue;
    const other = there.placeOf(hash);
    if (other >= 0) anchors.push([at, other]);
  }
  return longestAscending(anchors);
}

/**
 * Hashes of the windows in a range of bytecode, and the positions of the unique ones. A window that finds no
 * slot counts as repeated.
 */
class WindowIndex {
  /** In window order: the first one starts at the start of the range. */
  readonly hashes: Int32Array;
  /** Hash table with open addressing, at most half full: ten times as fast as a Map of numbers. */
  readonly #keys: Int32Array;
  readonly #places: Int32Array;
  readonly #mask: number;

  constructor(bytes: Bytes, from: number, end: number, size: number) {
    const count = Math.max(0, end - from - size + 1);
    const slots = 2 ** Math.ceil(Math.log2(2 * count + 2));
    this.hashes = new Int32Array(count);
    this.#keys = new Int32Array(slots);
    this.#places = new Int32Array(slots).fill(ABSENT);
    this.#mask = slots - 1;
    let leaving = 1;
    for (let step = 0; step < size; step += 1) leaving = Math.imul(leaving, HASH_BASE);
    let hash = 0;
    for (let at = from; at < end; at += 1) {
      hash = Math.imul(hash, HASH_BASE) + (bytes[at] ?? 0);
      if (at >= from + size) hash -= Math.imul(leaving, bytes[at - size] ?? 0);
      hash |= 0;
      const start = at + 1 - size;
      if (start >= from) this.#add(hash, start, start - from);
    }
  }

  /** Position of the only window with a hash; negative if there is none or several. */
  placeOf(hash: number): number {
    return this.#places[this.#slotOf(hash)] ?? REPEATED;
  }

  #add(hash: number, start: number, index: number): void {
    this.hashes[index] = hash;
    const slot = this.#slotOf(hash);
    if (slot === ABSENT) return;
    this.#keys[slot] = hash;
    this.#places[slot] = this.#places[slot] === ABSENT ? start : REPEATED;
  }

  /** The slot of a hash, or a free one for it; {@link ABSENT} if all probed slots are taken. */
  #slotOf(hash: number): number {
    // The low bits of a rolling hash depend only on the last bytes.
    let slot = (hash ^ (hash >>> 15)) & this.#mask;
    for (let tried = 0; tried < MAX_SLOTS; tried += 1) {
      if (this.#places[slot] === ABSENT || this.#keys[slot] === hash) return slot;
      slot = (slot + 1) & this.#mask;
    }
    return ABSENT;
  }
}

/** The longest subsequence of pairs, sorted by their first, that ascends in their second. */
function longestAscending(
  pairs: readonly (readonly [number, number])[],
): (readonly [number, number])[] {
  /** By length minus one: index of the pair with the lowest end of a sequence of that length. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [index, [, value]] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    before.push(ends[low - 1]);
    ends[low] = index;
  }
  const row: (readonly [number, number])[] = [];
  for (let at = ends.at(-1); at !== undefined; at = before[at]) {
    const pair = pairs[at];
    if (pair !== undefined) row.push(pair);
  }
  return row.reverse();
}
