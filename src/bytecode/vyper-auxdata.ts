import { decode } from 'cborg';
import { isAtLeastRelease } from './release.ts';

/** The trailer that Vyper appends to bytecode. */
export interface VyperAuxdata {
  /** Length in bytes, including the length bytes if the version writes them. */
  readonly length: number;
  /** `0.4.1` */
  readonly vyper: string;
  /** Size of the runtime bytecode, and of the immutables that the constructor appends to it; since 0.3.10. */
  readonly layout?: { readonly runtimeBytes: number; readonly immutableBytes: number };
  /** Offset of the 32-byte integrity hash from the start of the auxdata; since 0.4.1. */
  readonly integrityOffset?: number;
}

const LENGTH_BYTES = 2;
const INTEGRITY_BYTES = 32;
/** Bytes before the integrity hash: the header of an array of five, and that of a byte string of 32 bytes. */
const BEFORE_INTEGRITY = 3;
/** A program has only a few data sections, at most five bytes each. */
const MAX_BYTES = 1024;
const CBOR_OPTIONS = { strict: true, allowIndefinite: false, allowUndefined: false };
/** `{"vyper": [` of three numbers below 24, as in all versions that write only this map. */
const MAP_HEAD = Buffer.from('a165767970657283', 'hex');
const MAP_BYTES = MAP_HEAD.length + 3;

/** First versions whose auxdata describes the creation bytecode, and whose auxdata has an integrity hash. */
const FIRST_WITH_LAYOUT = [0, 3, 10];
const FIRST_WITH_INTEGRITY = [0, 4, 1];

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function readVersion(map: unknown): string | undefined {
  if (typeof map !== 'object' || map === null || Object.keys(map).join() !== 'vyper') return;
  const { vyper } = map as { readonly vyper?: unknown };
  const isVersion = Array.isArray(vyper) && vyper.length === 3 && vyper.every(isCount);
  return isVersion ? vyper.join('.') : undefined;
}

/** `[integrity hash (since 0.4.1), runtime bytes, [bytes of each data section], bytes of immutables, {vyper: version}]` */
function readArray(bytes: Uint8Array): Omit<VyperAuxdata, 'length'> | undefined {
  const items: unknown = decode(bytes, CBOR_OPTIONS);
  if (!Array.isArray(items) || (items.length !== 4 && items.length !== 5)) return undefined;
  const [integrity, [runtimeBytes, dataBytes, immutableBytes, map]] = (
    items.length === 5 ? [items[0], items.slice(1)] : [undefined, items]
  ) as [unknown, readonly unknown[]];
  const vyper = readVersion(map);
  const isSound = Array.isArray(dataBytes) && dataBytes.every(isCount);
  if (!isSound || !isCount(runtimeBytes) || !isCount(immutableBytes) || vyper === undefined) return;
  const layout = { runtimeBytes, immutableBytes };
  if ((items.length === 5) !== isAtLeastRelease(vyper, FIRST_WITH_INTEGRITY)) return undefined;
  if (items.length === 4)
    return isAtLeastRelease(vyper, FIRST_WITH_LAYOUT) ? { vyper, layout } : undefined;
  const isHash = integrity instanceof Uint8Array && integrity.length === INTEGRITY_BYTES;
  return isHash ? { vyper, layout, integrityOffset: BEFORE_INTEGRITY } : undefined;
}

/** Reads the auxdata of 0.3.10 and later: an array and its length, which includes the two length bytes. */
function readLayout(auxdata: Uint8Array): VyperAuxdata | undefined {
  const { length } = auxdata;
  const stated = ((auxdata.at(-2) ?? 0) << 8) | (auxdata.at(-1) ?? 0);
  if (length <= LENGTH_BYTES || length > MAX_BYTES || stated !== length) return undefined;
  try {
    const read = readArray(auxdata.subarray(0, length - LENGTH_BYTES));
    return read && { ...read, length };
  } catch {
    // Not CBOR, or not of that length.
    return undefined;
  }
}

/** Reads the auxdata of 0.3.4 to 0.3.9: a map and, since 0.3.5, its length without the two length bytes. */
function readMap(auxdata: Uint8Array): VyperAuxdata | undefined {
  const numbers = auxdata.subarray(MAP_HEAD.length, MAP_BYTES);
  const { length } = auxdata;
  const isEnded =
    length === MAP_BYTES ||
    (length === MAP_BYTES + LENGTH_BYTES &&
      auxdata[MAP_BYTES] === 0 &&
      auxdata.at(-1) === MAP_BYTES);
  const isMap = MAP_HEAD.equals(auxdata.subarray(0, MAP_HEAD.length));
  if (!isMap || !isEnded || numbers.some((each) => each >= 24)) return undefined;
  const vyper = numbers.join('.');
  return isAtLeastRelease(vyper, FIRST_WITH_LAYOUT) ? undefined : { length, vyper };
}

/** Reads bytes that are exactly one auxdata of Vyper; undefined if they are not. */
export function readVyperAuxdata(auxdata: Uint8Array): VyperAuxdata | undefined {
  return readMap(auxdata) ?? readLayout(auxdata);
}

/** Reads the auxdata at the very end of a bytecode, and its offset. */
export function readTrailingVyperAuxdata(
  code: Uint8Array,
): (VyperAuxdata & { readonly offset: number }) | undefined {
  const stated = ((code.at(-2) ?? 0) << 8) | (code.at(-1) ?? 0);
  for (const length of [stated, MAP_BYTES + LENGTH_BYTES, MAP_BYTES]) {
    const offset = code.length - length;
    const auxdata = offset < 0 ? undefined : readVyperAuxdata(code.subarray(offset));
    if (auxdata !== undefined) return { ...auxdata, offset };
  }
  return undefined;
}
