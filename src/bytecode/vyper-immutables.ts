import { isMembers, type Members } from '../lib/members.ts';
import { type ImmutableType, isValueOf } from './immutable-type.ts';

/**
 * Type of a value appended to Vyper bytecode. `text` is a length and at most that many bytes, `list` a length
 * and at most that many values. Programs trust the length, so an excessive one makes them overwrite other
 * values.
 */
export type AppendedType =
  | ImmutableType
  | { readonly kind: 'text'; readonly most: number }
  | { readonly kind: 'list'; readonly most: number; readonly element: AppendedType }
  | { readonly kind: 'values'; readonly types: readonly AppendedType[] };

type Named = ReadonlyMap<string, Members>;

const WORD_BYTES = 32;
const ADDRESS_BITS = 160;
const DECIMAL_BITS = 168;
/** A type with more parts is treated as unknown. */
const MAX_PARTS = 10_000;

const idOf = (node: unknown): string | undefined =>
  isMembers(node) && node['ast_type'] === 'Name' && typeof node['id'] === 'string'
    ? node['id']
    : undefined;
const bodyOf = ({ body }: Members): readonly Members[] =>
  Array.isArray(body) ? body.filter(isMembers) : [];

function elementary(name: string): ImmutableType | undefined {
  if (name === 'address') return { kind: 'unsigned', bits: ADDRESS_BITS };
  if (name === 'bool') return { kind: 'below', bound: 2 };
  if (name === 'decimal') return { kind: 'signed', bits: DECIMAL_BITS };
  const [, base, digits] = /^(uint|int|bytes)(\d{1,3})$/.exec(name) ?? [];
  const size = Number(digits);
  if (base === 'bytes') {
    return size >= 1 && size <= WORD_BYTES ? { kind: 'leading', bytes: size } : undefined;
  }
  if (base === undefined || size < 8 || size > 256 || size % 8 !== 0) return undefined;
  return { kind: base === 'uint' ? 'unsigned' : 'signed', bits: size };
}

/** Reads the types of one module from its syntax tree. */
class TypeReader {
  private readonly named: Named;
  private parts = 0;

  constructor(module: Members) {
    this.named = new Map(
      bodyOf(module).flatMap((node) => {
        const { ast_type: kind, name, alias, target } = node;
        const imported = typeof alias === 'string' ? alias : name;
        const own = kind === 'Import' || kind === 'ImportFrom' ? imported : (name ?? idOf(target));
        return typeof own === 'string' ? [[own, node] as const] : [];
      }),
    );
  }

  read(annotation: unknown): AppendedType | undefined {
    this.parts += 1;
    if (this.parts > MAX_PARTS || !isMembers(annotation)) return undefined;
    const name = idOf(annotation);
    if (name !== undefined) return this.readNamed(name);
    if (annotation['ast_type'] !== 'Subscript') return undefined;
    const { value, slice } = annotation;
    // Up to 0.3.10 an index has a node of its own.
    const index = isMembers(slice) && slice['ast_type'] === 'Index' ? slice['value'] : slice;
    const of = idOf(value);
    if (of === 'String' || of === 'Bytes') {
      const most = this.readNumber(index);
      return most === undefined ? undefined : { kind: 'text', most };
    }
    if (of === 'DynArray') return this.readList(index);
    return this.readArray(value, index);
  }

  private readNamed(name: string): AppendedType | undefined {
    const known = elementary(name);
    if (known !== undefined) return known;
    const node = this.named.get(name);
    switch (node?.['ast_type']) {
      // An imported name can only be the type of a value if it is an interface.
      case 'Import':
      case 'ImportFrom':
      case 'InterfaceDef':
        return { kind: 'unsigned', bits: ADDRESS_BITS };
      case 'EnumDef':
      case 'FlagDef':
        return { kind: 'unsigned', bits: bodyOf(node).length };
      case 'StructDef':
        return this.readValues(bodyOf(node).map(({ annotation }) => annotation));
      default:
        return undefined;
    }
  }

  private readList(index: unknown): AppendedType | undefined {
    const [element, count] =
      isMembers(index) && Array.isArray(index['elements']) ? (index['elements'] as unknown[]) : [];
    const [type, most] = [this.read(element), this.readNumber(count)];
    return type === undefined || most === undefined
      ? undefined
      : { kind: 'list', most, element: type };
  }

  private readArray(value: unknown, index: unknown): AppendedType | undefined {
    const count = this.readNumber(index);
    if (count === undefined || count > MAX_PARTS) return undefined;
    return this.readValues(Array.from({ length: count }, () => value));
  }

  private readValues(annotations: readonly unknown[]): AppendedType | undefined {
    const types: AppendedType[] = [];
    for (const annotation of annotations) {
      const type = this.read(annotation);
      if (type === undefined) return undefined;
      types.push(type);
    }
    return types.length === 0 ? undefined : { kind: 'values', types };
  }

  /** Reads a number, or the name of a numeric constant. */
  private readNumber(node: unknown): number | undefined {
    const constant = this.named.get(idOf(node) ?? '');
    const given = constant?.['is_constant'] === true ? constant['value'] : node;
    const value = isMembers(given) && given['ast_type'] === 'Int' ? given['value'] : undefined;
    return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
      ? value
      : undefined;
  }
}

/**
 * Reads the types of the values appended to the bytecode of a module without imports, in order. Returns
 * undefined if a type is unknown.
 * @param module its syntax tree, as the compiler writes it
 */
export function readAppendedTypes(module: unknown): readonly AppendedType[] | undefined {
  if (!isMembers(module)) return undefined;
  const reader = new TypeReader(module);
  const types = bodyOf(module)
    .filter((node) => node['ast_type'] === 'VariableDecl' && node['is_immutable'] === true)
    .map(({ annotation }) => reader.read(annotation));
  return types.some((type) => type === undefined) ? undefined : (types as readonly AppendedType[]);
}

function sizeOf(type: AppendedType): number {
  switch (type.kind) {
    case 'text':
      return WORD_BYTES + Math.ceil(type.most / WORD_BYTES) * WORD_BYTES;
    case 'list':
      return WORD_BYTES + type.most * sizeOf(type.element);
    case 'values':
      return sizeOfAll(type.types);
    default:
      return WORD_BYTES;
  }
}

function sizeOfAll(types: readonly AppendedType[]): number {
  return types.reduce((sum, type) => sum + sizeOf(type), 0);
}

/** Returns whether values of these types take exactly this many bytes. */
export function fill(types: readonly AppendedType[], bytes: number): boolean {
  return sizeOfAll(types) === bytes;
}

/**
 * Returns whether the bytes are values of these types, which {@link fill} them: each within its range and
 * length limit.
 */
export function areValuesOf(types: readonly AppendedType[], bytes: Buffer): boolean {
  let at = 0;
  return types.every((type) => {
    const own = bytes.subarray(at, at + sizeOf(type));
    at += own.length;
    return isAppendedValue(type, own);
  });
}

function isAppendedValue(type: AppendedType, bytes: Buffer): boolean {
  switch (type.kind) {
    case 'text':
      return lengthIn(bytes) <= type.most;
    case 'list': {
      const length = lengthIn(bytes);
      const values = Array.from({ length: Math.min(length, type.most) }, () => type.element);
      return length <= type.most && areValuesOf(values, bytes.subarray(WORD_BYTES));
    }
    case 'values':
      return areValuesOf(type.types, bytes);
    default:
      return isValueOf(type, bytes);
  }
}

/** Returns the number in the first word; Infinity if it exceeds any list. */
function lengthIn(bytes: Buffer): number {
  const high = bytes.subarray(0, WORD_BYTES - 6);
  return high.every((byte) => byte === 0) ? bytes.readUIntBE(WORD_BYTES - 6, 6) : Infinity;
}
