/** A parameter of a function or constructor in a JSON ABI. */
export interface AbiParameter {
  readonly type: string;
  readonly components?: readonly AbiParameter[];
}

/** A type of the contract ABI. `head` is the size of its head in bytes; 32 for a dynamic type. */
type AbiType =
  | {
      readonly kind: 'word';
      readonly dynamic: false;
      readonly head: number;
      isSound(word: Buffer): boolean;
    }
  | { readonly kind: 'bytes'; readonly dynamic: true; readonly head: number }
  | {
      readonly kind: 'list';
      readonly dynamic: true;
      readonly head: number;
      readonly element: AbiType;
    }
  | {
      readonly kind: 'tuple';
      readonly dynamic: boolean;
      readonly head: number;
      /** Total size of all heads in bytes, even if the tuple itself is dynamic. */
      readonly heads: number;
      readonly count: number;
      member(index: number): AbiType;
    };

const WORD_BYTES = 32;

/** The data is not a strict encoding of values of these types. */
class NotStrict extends Error {}

const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

/** An unsigned number with this many bytes, right-aligned in its word. */
function unsigned(bytes: number, isSound: (word: Buffer) => boolean = () => true): AbiType {
  return word((value) => isZero(value.subarray(0, WORD_BYTES - bytes)) && isSound(value));
}

/** A two's complement number with this many bytes, sign-extended to its word. */
function signed(bytes: number): AbiType {
  return word((value) => {
    const sign = (value[WORD_BYTES - bytes] ?? 0) >= 0x80 ? 0xff : 0;
    return value.subarray(0, WORD_BYTES - bytes).every((byte) => byte === sign);
  });
}

function word(isSound: (word: Buffer) => boolean): AbiType {
  return { kind: 'word', dynamic: false, head: WORD_BYTES, isSound };
}

function tuple(
  count: number,
  member: (index: number) => AbiType,
  heads: number,
  dynamic: boolean,
): AbiType {
  return { kind: 'tuple', dynamic, head: dynamic ? WORD_BYTES : heads, heads, count, member };
}

function tupleOf(members: readonly AbiType[]): AbiType {
  const heads = members.reduce((sum, { head }) => sum + head, 0);
  const dynamic = members.some((member) => member.dynamic);
  return tuple(members.length, (index) => members[index] as AbiType, heads, dynamic);
}

function parseElementary(name: string): AbiType | undefined {
  const [, base = '', size = ''] = /^([a-z]+)(\d*)(?:x\d+)?$/.exec(name) ?? [];
  const number = Number(size);
  const isBits = number >= 8 && number <= 256 && number % 8 === 0;
  switch (base) {
    case 'address':
      return unsigned(20);
    case 'bool':
      return unsigned(1, (value) => (value[WORD_BYTES - 1] ?? 2) <= 1);
    case 'function':
      return word((value) => isZero(value.subarray(24)));
    case 'uint':
    case 'ufixed':
      return isBits ? unsigned(number / 8) : undefined;
    case 'int':
    case 'fixed':
      return isBits ? signed(number / 8) : undefined;
    case 'string':
      return { kind: 'bytes', dynamic: true, head: WORD_BYTES };
    case 'bytes':
      if (size === '') return { kind: 'bytes', dynamic: true, head: WORD_BYTES };
      return number >= 1 && number <= WORD_BYTES
        ? word((value) => isZero(value.subarray(number)))
        : undefined;
    default:
      return undefined;
  }
}

function parseType({ type, components }: AbiParameter): AbiType {
  const list = /^(.*)\[(\d*)\]$/.exec(type);
  if (list !== null) {
    const element = parseType({ type: list[1] ?? '', ...(components && { components }) });
    // Solidity has no zero-size values; a list of them could cause endless work with a few bytes.
    if (element.head === 0) throw new NotStrict();
    if (list[2] === '') return { kind: 'list', dynamic: true, head: WORD_BYTES, element };
    const count = Number(list[2]);
    return tuple(count, () => element, count * element.head, element.dynamic);
  }
  if (type === 'tuple') return tupleOf((components ?? []).map(parseType));
  const elementary = parseElementary(type);
  if (elementary === undefined) throw new NotStrict();
  return elementary;
}

/** A decoded value: the 32 bytes of a word, the content of bytes or text, or the values of a list or tuple. */
export type StrictValue = Buffer | readonly StrictValue[];

/** Reads each value at the only position that strict encoding allows; reads every byte once. */
class StrictReader {
  private readonly data: Buffer;
  private readonly isPadded: boolean;

  /** @param isPadded whether the data counts as followed by any number of zeros */
  constructor(data: Buffer, isPadded: boolean) {
    this.data = data;
    this.isPadded = isPadded;
  }

  /** Returns at most the bytes that the data has; padding zeros are left out. */
  private slice(at: number, length: number): Buffer {
    if (at + length > this.data.length && !this.isPadded) throw new NotStrict();
    return this.data.subarray(at, at + length);
  }

  private word(at: number): Buffer {
    const value = this.slice(at, WORD_BYTES);
    return value.length === WORD_BYTES ? value : Buffer.concat([value], WORD_BYTES);
  }

  /** Reads an offset or a length. Values beyond the size of the data are invalid, so six bytes are enough. */
  private size(at: number): number {
    const value = this.word(at);
    if (!isZero(value.subarray(0, WORD_BYTES - 6))) throw new NotStrict();
    return value.readUIntBE(WORD_BYTES - 6, 6);
  }

  /**
   * @param values receives the value; absent if it is not needed
   * @returns the end of the encoding of the value that starts at `at`
   */
  read(type: AbiType, at: number, values?: StrictValue[]): number {
    switch (type.kind) {
      case 'word': {
        const value = this.word(at);
        if (!type.isSound(value)) throw new NotStrict();
        values?.push(value);
        return at + WORD_BYTES;
      }
      case 'bytes': {
        const length = this.size(at);
        const padded = Math.ceil(length / WORD_BYTES) * WORD_BYTES;
        const content = this.slice(at + WORD_BYTES, padded);
        if (!isZero(content.subarray(length))) throw new NotStrict();
        values?.push(content.subarray(0, length));
        return at + WORD_BYTES + padded;
      }
      case 'list': {
        const count = this.size(at);
        const { element } = type;
        const start = at + WORD_BYTES;
        return this.readMembers(count, () => element, count * element.head, start, values);
      }
      case 'tuple':
        return this.readMembers(type.count, (index) => type.member(index), type.heads, at, values);
    }
  }

  /** Reads the heads, then the tails of the dynamic members in order and without gaps, as each offset must state. */
  private readMembers(
    count: number,
    member: (index: number) => AbiType,
    heads: number,
    start: number,
    values?: StrictValue[],
  ): number {
    this.slice(start, heads);
    const members = values && [];
    values?.push(members ?? []);
    let head = start;
    let tail = start + heads;
    const end = this.isPadded ? this.data.length : Infinity;
    let isCut = false;
    // After the end of the data all values are zeros, including offsets.
    for (let index = 0; index < count && head < end; index += 1) {
      const type = member(index);
      if (type.dynamic) {
        const offset = this.size(head);
        // The original length of a truncated tail is unknown.
        const isSound = isCut ? offset >= tail - start : offset === tail - start;
        if (!isSound) throw new NotStrict();
        tail = this.read(type, tail, members);
        isCut = tail > end;
      } else {
        this.read(type, head, members);
      }
      head += type.head;
    }
    return tail;
  }
}

/**
 * Returns whether the complete data is the canonical encoding of values of these types, the one that
 * re-encoding the decoded values produces ("strict encoding mode" of the Solidity contract ABI specification:
 * minimal offsets, no gaps, zero padding, numbers within their type). Text need not be UTF-8, which the EVM
 * does not enforce. Runs in linear time on any data.
 */
export function isStrictEncoding(parameters: readonly AbiParameter[], data: Uint8Array): boolean {
  return readStrictly(parameters, data);
}

/**
 * Returns whether the data followed by zeros is a strict encoding: constructors of Solidity before 0.5.0 read
 * missing arguments as zeros.
 */
export function isStrictPrefix(parameters: readonly AbiParameter[], data: Uint8Array): boolean {
  return readStrictly(parameters, data, { isPadded: true });
}

/** Decodes data that is a strict encoding in the sense of {@link isStrictEncoding}; undefined if it is not. */
export function decodeStrictly(
  parameters: readonly AbiParameter[],
  data: Uint8Array,
): readonly StrictValue[] | undefined {
  const values: StrictValue[] = [];
  if (!readStrictly(parameters, data, { values })) return undefined;
  const [all] = values;
  return Array.isArray(all) ? (all as readonly StrictValue[]) : undefined;
}

function readStrictly(
  parameters: readonly AbiParameter[],
  data: Uint8Array,
  {
    values,
    isPadded = false,
  }: { readonly values?: StrictValue[]; readonly isPadded?: boolean } = {},
): boolean {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  try {
    const type = tupleOf(parameters.map(parseType));
    const end = new StrictReader(bytes, isPadded).read(type, 0, values);
    return isPadded ? end >= bytes.length : end === bytes.length;
  } catch (error) {
    if (error instanceof NotStrict) return false;
    throw error;
  }
}
