import { alignCodes, type AlignedSection } from './align-codes.ts';

/** What a differing byte belongs to: the code itself, or a value that is specific to the deployment. */
export type ByteKind =
  'code' | 'library' | 'immutable' | 'cborAuxdata' | 'callProtection' | 'constructorArguments';

/** A range of the recompiled bytecode that may differ, and why. */
export interface ExpectedRange {
  readonly reason: ByteKind;
  readonly offset: number;
  readonly length: number;
}

/** How a byte differs: its value differs, or only one side has it. */
export type DifferenceSort = Exclude<AlignedSection['sort'], 'equal'>;

/** A section of aligned bytecodes, and what it belongs to. */
export interface CodeSection extends AlignedSection {
  readonly kind: ByteKind;
}

/** Two aligned bytecodes. */
export interface ComparedCodes {
  readonly recompiled: Uint8Array;
  readonly onChain: Uint8Array;
  /** Together they cover each byte of both bytecodes once. */
  readonly stretches: readonly CodeSection[];
}

/** A location at which the code itself differs; adjacent sections form one location. */
export interface DifferenceLocation {
  readonly recompiledAt: number;
  readonly onChainAt: number;
  /** Number of bytes that differ in each way. */
  readonly bytes: Readonly<Record<DifferenceSort, number>>;
}

/** A byte of a row: its two digits, or nothing if this side has none. */
export interface ShownByte {
  readonly digits: string;
  readonly sort: AlignedSection['sort'];
  readonly kind: ByteKind;
}

/** Sixteen columns of both bytecodes. */
export interface CodeRow {
  /** Whether rows before it are omitted. */
  readonly isBehindGap: boolean;
  readonly recompiledAt: number;
  readonly onChainAt: number;
  readonly recompiled: readonly ShownByte[];
  readonly onChain: readonly ShownByte[];
}

/** Sections with fewer equal bytes between them than this form one location. */
const NEAR_BYTES = 4;
const ROW_COLUMNS = 16;

function bytesOf(code: string): Uint8Array {
  const digits = code.replace(/^0x/, '');
  const bytes = new Uint8Array(Math.floor(digits.length / 2));
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[at] = 16 * digitAt(digits, 2 * at) + digitAt(digits, 2 * at + 1);
  }
  return bytes;
}

/** The value of a hex digit in either case: letters are nine above their low bits. */
function digitAt(digits: string, at: number): number {
  const code = digits.charCodeAt(at);
  return (code & 15) + (code > 64 ? 9 : 0);
}

/** Compares two bytecodes in hex. */
export function compareCodes(
  recompiledHex: string,
  onChainHex: string,
  explained: readonly ExpectedRange[],
): ComparedCodes {
  const [recompiled, onChain] = [bytesOf(recompiledHex), bytesOf(onChainHex)];
  const kinds = kindsOf(recompiled.length, explained);
  const stretches = alignCodes(recompiled, onChain).flatMap((stretch) =>
    splitByKind(stretch, kinds),
  );
  return { recompiled, onChain, stretches };
}

/** The kind of each byte of the recompiled bytecode, and of the bytes after its end. */
function kindsOf(bytes: number, explained: readonly ExpectedRange[]): readonly ByteKind[] {
  const kinds = new Array<ByteKind>(bytes + 1).fill('code');
  for (const { reason, offset, length } of explained) kinds.fill(reason, offset, offset + length);
  return kinds;
}

function splitByKind(stretch: AlignedSection, kinds: readonly ByteKind[]): CodeSection[] {
  const { sort, recompiledAt, onChainAt, length } = stretch;
  const kindAt = (at: number): ByteKind => kinds[at] ?? 'code';
  if (sort === 'equal') return [{ ...stretch, kind: 'code' }];
  if (sort === 'inserted') {
    // Bytes between two expected ones are expected if both are, and bytes after the end if the end is.
    const kind = kindAt(recompiledAt);
    const isWithin = recompiledAt === kinds.length - 1 || kindAt(recompiledAt - 1) === kind;
    return [{ ...stretch, kind: isWithin ? kind : 'code' }];
  }
  const parts: CodeSection[] = [];
  for (let from = 0; from < length;) {
    const kind = kindAt(recompiledAt + from);
    let to = from + 1;
    while (to < length && kindAt(recompiledAt + to) === kind) to += 1;
    parts.push({
      sort,
      kind,
      recompiledAt: recompiledAt + from,
      onChainAt: sort === 'changed' ? onChainAt + from : onChainAt,
      length: to - from,
    });
    from = to;
  }
  return parts;
}

/** Number of bytes that differ in a way, for each kind. */
export function countBytes(
  { stretches }: ComparedCodes,
  sort: DifferenceSort,
): ReadonlyMap<ByteKind, number> {
  const counts = new Map<ByteKind, number>();
  for (const { kind, length } of stretches.filter((stretch) => stretch.sort === sort)) {
    counts.set(kind, (counts.get(kind) ?? 0) + length);
  }
  return counts;
}

/** Locations at which the code itself differs, ascending. */
export function findLocations({ stretches }: ComparedCodes): readonly DifferenceLocation[] {
  const places: DifferenceLocation[] = [];
  let equalBytes = Infinity;
  for (const { sort, kind, recompiledAt, onChainAt, length } of stretches) {
    if (sort === 'equal' || kind !== 'code') {
      equalBytes += length;
      continue;
    }
    const last = equalBytes < NEAR_BYTES ? places.pop() : undefined;
    const bytes = last?.bytes ?? { changed: 0, inserted: 0, missing: 0 };
    places.push({
      ...(last ?? { recompiledAt, onChainAt }),
      bytes: { ...bytes, [sort]: bytes[sort] + length },
    });
    equalBytes = 0;
  }
  return places;
}

/**
 * Rows in which the code itself differs, each with one row of context; if it does not differ, rows with any
 * difference. Long sections show their first and last rows.
 * @param limit maximum number of rows
 */
export function differentRows(compared: ComparedCodes, limit: number): CodeRow[] {
  const { recompiled, onChain, stretches } = compared;
  const chosen = chooseRows(stretches, limit);
  const rows = new Map<number, CodeRow & { recompiled: ShownByte[]; onChain: ShownByte[] }>();
  let column = 0;
  for (const { sort, kind, length, ...starts } of stretches) {
    for (let index = 0; index < length; index += 1, column += 1) {
      const number = Math.floor(column / ROW_COLUMNS);
      if (!chosen.has(number)) continue;
      const recompiledAt = starts.recompiledAt + (sort === 'inserted' ? 0 : index);
      const onChainAt = starts.onChainAt + (sort === 'missing' ? 0 : index);
      const row = rows.get(number) ?? {
        isBehindGap: rows.size > 0 && !rows.has(number - 1),
        recompiledAt,
        onChainAt,
        recompiled: [],
        onChain: [],
      };
      rows.set(number, row);
      row.recompiled.push({
        digits: digitsOf(recompiled, recompiledAt, sort !== 'inserted'),
        sort,
        kind,
      });
      row.onChain.push({ digits: digitsOf(onChain, onChainAt, sort !== 'missing'), sort, kind });
    }
  }
  return [...rows.values()];
}

const digitsOf = (code: Uint8Array, at: number, isThere: boolean): string =>
  isThere ? (code[at] ?? 0).toString(16).padStart(2, '0') : '';

function chooseRows(stretches: readonly CodeSection[], limit: number): ReadonlySet<number> {
  const differs = ({ sort }: CodeSection): boolean => sort !== 'equal';
  const isInCode = stretches.some((stretch) => differs(stretch) && stretch.kind === 'code');
  const chosen: number[] = [];
  let column = 0;
  for (const stretch of stretches) {
    const first = Math.floor(column / ROW_COLUMNS);
    column += stretch.length;
    const last = Math.floor((column - 1) / ROW_COLUMNS);
    if (!differs(stretch) || (isInCode && stretch.kind !== 'code')) continue;
    chosen.push(first - 1, first, first + 1, last - 1, last, last + 1);
  }
  const count = Math.ceil(column / ROW_COLUMNS);
  const rows = new Set(chosen.filter((row) => row >= 0 && row < count));
  return new Set([...rows].slice(0, limit));
}
