import { hexToBytes, type Hex } from '../lib/hex.ts';

/** Why bytes of the code on chain differ from the recompiled code. */
export type TransformationReason =
  'constructorArguments' | 'library' | 'immutable' | 'cborAuxdata' | 'callProtection';

/**
 * One expected difference in the form of the Verifier Alliance database: the bytes at `offset` are replaced by the value
 * of `reason` and `id`, the value is inserted there, or `length` bytes are deleted.
 */
export interface Transformation {
  readonly type: 'delete' | 'insert' | 'replace';
  readonly reason: TransformationReason;
  /** In bytes, from the start of the recompiled code. */
  readonly offset: number;
  /** How many bytes go, where that is another number than the value has: only of an auxdata, and only at the end of the code. */
  readonly length?: number;
  /** Absent where a code has one value of that reason at most (constructor arguments and call protection), and in a deletion. */
  readonly id?: string;
}

/** The values that the transformations refer to. A key is absent when nothing of its kind was applied. */
export interface TransformationValues {
  readonly constructorArguments?: Hex;
  readonly libraries?: Readonly<Record<string, Hex>>;
  readonly immutables?: Readonly<Record<string, Hex>>;
  readonly cborAuxdata?: Readonly<Record<string, Hex>>;
  readonly callProtection?: Hex;
}

function valueOf({ reason, id }: Transformation, values: TransformationValues): Hex {
  const byId = {
    library: values.libraries,
    immutable: values.immutables,
    cborAuxdata: values.cborAuxdata,
  };
  const value =
    reason === 'constructorArguments' || reason === 'callProtection'
      ? values[reason]
      : id !== undefined && Object.hasOwn(byId[reason] ?? {}, id)
        ? byId[reason]?.[id]
        : undefined;
  if (value === undefined) throw new RangeError(`no value for ${reason} ${id ?? ''}`.trimEnd());
  return value;
}

/** Where a transformation that changes the length of the code cuts its end off; undefined for any other. */
function cutOf({ type, reason, offset, length }: Transformation, end: number): number | undefined {
  if (type === 'insert' || (type === 'replace' && length === undefined)) return undefined;
  const isEnd = offset >= 0 && length !== undefined && length > 0 && offset + length === end;
  if (reason !== 'cborAuxdata' || !isEnd) {
    throw new RangeError(`${reason} at byte ${offset} changes the length before the end`);
  }
  return offset;
}

/**
 * Applies recorded transformations to recompiled code, as anyone may who doubts a match: the result must equal the code
 * on chain. Replacements keep the length, but for the one of an auxdata at the very end, which may also be deleted; the
 * insertions come after the last byte.
 * @param code the recompiled code with zeros for placeholders.
 * @throws RangeError when a value is missing, a replacement leaves the code or reaches into what is cut off, or a deletion
 * or an insertion is not at its end.
 */
export function replayTransformations(
  code: Uint8Array,
  transformations: readonly Transformation[],
  values: TransformationValues,
): Buffer {
  const cuts = transformations.flatMap((each) => cutOf(each, code.length) ?? []);
  if (cuts.length > 1) throw new RangeError('the end of the code is cut off more than once');
  const kept = cuts[0] ?? code.length;
  const replaced = Buffer.from(code.subarray(0, kept));
  const appended: Buffer[] = [];
  for (const transformation of transformations) {
    const { type, offset, length } = transformation;
    if (type === 'delete') continue;
    const value = hexToBytes(valueOf(transformation, values));
    if (type === 'replace' && length !== undefined) {
      appended.unshift(value);
      continue;
    }
    const isWithin =
      type === 'insert' ? offset === code.length : offset >= 0 && offset + value.length <= kept;
    if (!isWithin)
      throw new RangeError(`${transformation.reason} at byte ${offset} leaves the code`);
    if (type === 'insert') appended.push(value);
    else value.copy(replaced, offset);
  }
  return appended.length === 0 ? replaced : Buffer.concat([replaced, ...appended]);
}
