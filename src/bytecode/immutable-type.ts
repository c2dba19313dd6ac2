/**
 * What the values of an immutable may be.
 * `unsigned` numbers of so many bits: uintN, address and contract types.
 * `signed` numbers of so many bits in two's complement; with `zerosBefore`, the bits before them may be zeros whatever the
 * sign.
 * `below` a bound: bool and enums.
 * `leading` so many bytes with zeros behind them: bytesN and external functions.
 * `code_pointer` a place in the code: an internal function. Nothing in the value itself says that it is a sound one.
 */
export type ImmutableType = (
  | { readonly kind: 'unsigned'; readonly bits: number }
  | { readonly kind: 'signed'; readonly bits: number; readonly zerosBefore?: true }
  | { readonly kind: 'below'; readonly bound: number }
  | { readonly kind: 'leading'; readonly bytes: number }
  | { readonly kind: 'code_pointer' }
) &
  ImmutableDeclaration;

/** What people call an immutable; nothing is judged by it. Absent where the compiler did not say it. */
export interface ImmutableDeclaration {
  readonly name?: string;
  /** As the compiler writes it, such as `contract Token` or `uint256`. */
  readonly declared?: string;
}

const BYTE_BITS = 8;

function toNumber(word: Uint8Array): bigint {
  return BigInt(`0x00${Buffer.from(word).toString('hex')}`);
}

/** Whether the bytes, as many as the code has for the immutable, are the encoding of a value of the type. */
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
 * Whether a value of the type is sound wherever it comes from. The value of a code pointer, and of a type that is not
 * known, has to come from the constructor: a forged one lets the same code do anything.
 */
export function isSelfEvident(type: ImmutableType | undefined): boolean {
  return type !== undefined && type.kind !== 'code_pointer';
}

/** The type of the contract ABI whose encoding a value is; undefined for a place in the code. */
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
