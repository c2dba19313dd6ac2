import { hexToBytes, type Hex } from '../lib/hex.ts';

/** Why bytes on chain differ from the recompiled bytecode. */
export type TransformationReason =
  'constructorArguments' | 'library' | 'immutable' | 'cborAuxdata' | 'callProtection';

/**
 * An expected difference, in the format of the Verifier Alliance database: the bytes at `offset` are replaced
 * with the value of `reason` and `id`, the value is inserted there, or `length` bytes are deleted.
 */
export interface Transformation {
  readonly type: 'delete' | 'insert' | 'replace';
  readonly reason: TransformationReason;
  /** In bytes, from the start of the recompiled bytecode. */
  readonly offset: number;
  /**
   * Number of bytes to remove, if it differs from the size of the value: only for an auxdata at the end of
   * the bytecode.
   */
  readonly length?: number;
  /**
   * Absent if a bytecode has at most one value of that reason (constructor arguments and call protection),
   * and for a deletion.
   */
  readonly id?: string;
}

/** The values that the transformations refer to. A key is absent if no value of its kind was applied. */
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

/** Returns the offset at which a transformation that changes the length cuts off the end; undefined for any other. */
function cutOf({ type, reason, offset, length }: Transformation, end: number): number | undefined {
  if (type === 'insert' || (type === 'replace' && length === undefined)) return undefined;
  const isEnd = offset >= 0 && length !== undefined && length > 0 && offset + length === end;
  if (reason !== 'cborAuxdata' || !isEnd) {
    throw new RangeError(`${reason} at byte ${offset} changes the length before the end`);
  }
  return offset;
}

/**
 * Applies recorded transformations to recompiled bytecode. The result must equal the bytecode on chain, so
 * anyone can check a match. Replacements keep the length, except that of an auxdata at the very end, which
 * may also be deleted; insertions come after the last byte.
 * @param code the recompiled bytecode with zeros for placeholders.
 * @throws RangeError if a value is missing, a replacement is out of bounds or reaches into what is cut off,
 * or a deletion or insertion is not at the end.
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
