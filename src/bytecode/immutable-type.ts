/**
 * Type of an immutable, which limits its values.
 * - `unsigned`: numbers of `bits` bits: uintN, address and contract types.
 * - `signed`: numbers of `bits` bits in two's complement; with `zerosBefore`, the bits before them may be
 *   zeros whatever the sign.
 * - `below`: numbers below a bound: bool and enums.
 * - `leading`: `bytes` bytes followed by zeros: bytesN and external functions.
 * - `code_pointer`: a jump target in the bytecode: an internal function. The value itself does not show that
 *   it is valid.
 */
export type ImmutableType = (
  | { readonly kind: 'unsigned'; readonly bits: number }
  | { readonly kind: 'signed'; readonly bits: number; readonly zerosBefore?: true }
  | { readonly kind: 'below'; readonly bound: number }
  | { readonly kind: 'leading'; readonly bytes: number }
  | { readonly kind: 'code_pointer' }
) &
  ImmutableDeclaration;

/** The declaration of an immutable, for display only. Members that the compiler did not write are absent. */
export interface ImmutableDeclaration {
  readonly name?: string;
  /** As the compiler writes it, such as `contract Token` or `uint256`. */
  readonly declared?: string;
}

const BYTE_BITS = 8;

function toNumber(word: Uint8Array): bigint {
  return BigInt(`0x00${Buffer.from(word).toString('hex')}`);
}

/** Returns whether the bytes of an immutable encode a value of the type. */
export function isValueOf(type: ImmutableType, word: Uint8Array): boolean {
  switch (type.kind) {
    case 'unsigned':
      return toNumber(word) < 1n << BigInt(type.bits);
    case 'signed': {
      const value = toNumber(word);
      if (type.zerosBefore === true && value < 1n << BigInt(type.bits)) return true;
      return BigInt.asUintN(word.length * BYTE_BITS, BigInt.asIntN(type.bits, value)) === value;
    }
    case 'below':
      return toNumber(word) < BigInt(type.bound);
    case 'leading':
      return word.subarray(type.bytes).every((byte) => byte === 0);
    case 'code_pointer':
      return true;
  }
}

/**
 * Returns whether a value of the type is safe whatever its origin. A code pointer, or a value of unknown
 * type, must come from the constructor: a forged one can make the same bytecode do anything.
 */
export function isSafeWithoutProof(type: ImmutableType | undefined): boolean {
  return type !== undefined && type.kind !== 'code_pointer';
}

/** Returns the ABI type that encodes a value; undefined for a code pointer. */
export function abiTypeOf(type: ImmutableType): string | undefined {
  const { declared = '' } = type;
  switch (type.kind) {
    case 'unsigned':
      return /^(?:address|contract)\b/.test(declared) ? 'address' : `uint${type.bits}`;
    case 'signed':
      return `int${type.bits}`;
    case 'below':
      return declared === 'bool' ? 'bool' : 'uint8';
    case 'leading':
      return declared.startsWith('function') ? 'function' : `bytes${type.bytes}`;
    case 'code_pointer':
      return undefined;
  }
}
