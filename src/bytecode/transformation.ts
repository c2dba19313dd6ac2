import { hexToBytes, type Hex } from '../lib/hex.ts';

/** Why bytes of the code on chain differ from the recompiled code. */
export type TransformationReason =
  'constructorArguments' | 'library' | 'immutable' | 'cborAuxdata' | 'callProtection';

/**
 * One expected difference in the form of the Verifier Alliance database: the bytes at `offset` are replaced by the value
 * of `reason` and `id`, or the value is inserted there.
 */
export interface Transformation {
  readonly type: 'insert' | 'replace';
  readonly reason: TransformationReason;
  /** In bytes, from the start of the recompiled code. */
  readonly offset: number;
  /** Absent where a code has one value of that reason at most: constructor arguments and call protection. */
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

/**
 * Applies recorded transformations to recompiled code, as anyone may who doubts a match: the result must equal the code
 * on chain. Replacements keep the length; the one insertion there is comes after the last byte.
 * @param code the recompiled code with zeros for placeholders.
 * @throws RangeError when a value is missing, a replacement leaves the code or an insertion is not at its end.
 */
export function replayTransformations(
  code: Uint8Array,
  transformations: readonly Transformation[],
  values: TransformationValues,
): Buffer {
  const replaced = Buffer.from(code);
  const inserted: Buffer[] = [];
  for (const transformation of transformations) {
    const { type, offset } = transformation;
    const value = hexToBytes(valueOf(transformation, values));
    const isWithin =
      type === 'insert'
        ? offset === code.length
        : offset >= 0 && offset + value.length <= code.length;
    if (!isWithin)
      throw new RangeError(`${transformation.reason} at byte ${offset} leaves the code`);
    if (type === 'insert') inserted.push(value);
    else value.copy(replaced, offset);
  }
  return inserted.length === 0 ? replaced : Buffer.concat([replaced, ...inserted]);
}
