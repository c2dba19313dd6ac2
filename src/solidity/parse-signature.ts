/** A type in a signature, in the form of a JSON ABI parameter. */
export interface SignatureType {
  readonly type: string;
  readonly components?: readonly SignatureType[];
}

/** A parsed signature. */
export interface ParsedSignature {
  readonly name: string;
  readonly inputs: readonly SignatureType[];
}

/** Length limit of stored signatures: the longest ones of well-known contracts have several hundred characters. */
export const SIGNATURE_CHARACTERS = 2000;

/** Limits on nested tuples, and on nested lists. */
const MAX_DEPTH = 64;
const MAX_LISTS = 16;

const NAME = /[A-Za-z_$][\w$]*/y;
const LISTS = /(?:\[(?:[1-9]\d{0,8})?\])*/y;
/** A user-defined type in a library function, whose selector contains that name. */
const TYPE_NAME = /[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*/y;
/** Suffix of a parameter that a library function takes by reference. */
const STORAGE = / storage/y;

const sizes = (most: number, step: number): number[] =>
  Array.from({ length: most / step }, (_, index) => (index + 1) * step);
const ELEMENTARY: ReadonlySet<string> = new Set([
  ...['address', 'bool', 'bytes', 'function', 'string'],
  ...sizes(32, 1).map((bytes) => `bytes${bytes}`),
  ...sizes(256, 8).flatMap((bits) => [`uint${bits}`, `int${bits}`]),
]);
const FIXED = /^u?fixed(\d{1,3})x([1-9]\d?)$/;
const MAX_DECIMALS = 80;

function isElementary(name: string): boolean {
  if (ELEMENTARY.has(name)) return true;
  const [, bits = '', decimals = ''] = FIXED.exec(name) ?? [];
  return ELEMENTARY.has(`uint${bits}`) && bits !== '' && Number(decimals) <= MAX_DECIMALS;
}

/** A cursor over a text. Reads every character once. */
class Reader {
  readonly #text: string;
  readonly #mayBeOfLibrary: boolean;
  #at = 0;

  constructor(text: string, mayBeOfLibrary: boolean) {
    this.#text = text;
    this.#mayBeOfLibrary = mayBeOfLibrary;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  /** Reads a parenthesized list of types. */
  readTypes(depth: number): readonly SignatureType[] | undefined {
    if (depth > MAX_DEPTH || !this.#skip('(')) return undefined;
    const types: SignatureType[] = [];
    if (this.#skip(')')) return types;
    do {
      const type = this.#readType(depth);
      if (type === undefined) return undefined;
      types.push(type);
    } while (this.#skip(','));
    return this.#skip(')') ? types : undefined;
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #readType(depth: number): SignatureType | undefined {
    const isTuple = this.#text[this.#at] === '(';
    const components = isTuple ? this.readTypes(depth + 1) : undefined;
    const name = isTuple ? components && 'tuple' : this.take(TYPE_NAME);
    if (name === undefined) return undefined;
    if (!isTuple && !isElementary(name) && !this.#mayBeOfLibrary) return undefined;
    const lists = this.take(LISTS) ?? '';
    if (lists.split('[').length - 1 > MAX_LISTS) return undefined;
    const place = this.#mayBeOfLibrary ? (this.take(STORAGE) ?? '') : '';
    return { type: `${name}${lists}${place}`, ...(components && { components }) };
  }
}

/**
 * Parses a canonical signature, such as `transfer(address,uint256)`: full type names without spaces. Returns
 * undefined for any other text. Runs in linear time.
 * @param mayBeOfLibrary whether to accept user-defined types, as in library functions
 */
export function parseSignature(text: string, mayBeOfLibrary = false): ParsedSignature | undefined {
  if (text.length > SIGNATURE_CHARACTERS) return undefined;
  const reader = new Reader(text, mayBeOfLibrary);
  const name = reader.take(NAME);
  const inputs = name === undefined ? undefined : reader.readTypes(0);
  return name === undefined || inputs === undefined || !reader.isAtEnd
    ? undefined
    : { name, inputs };
}
