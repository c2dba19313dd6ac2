import { decodeStrictly, type StrictValue } from '../../solidity/strict-encoding.ts';
import { FullmatchError } from '../../errors.ts';
import { type ParsedSignature, type SignatureType } from '../../solidity/parse-signature.ts';

/** A decoded argument. */
export interface DecodedArgument {
  readonly name: string;
  /** A tuple is written as its types in parentheses. */
  readonly type: string;
  /** Members of a tuple. */
  readonly components: readonly DecodedArgument[];
  /** Of events only. */
  readonly indexed?: boolean;
  /** Hexadecimal digits without 0x, text unchanged, lists in brackets, tuples in parentheses. */
  readonly value: string;
}

/** A call or an event with its arguments. */
export interface DecodedAbi {
  readonly name: string;
  readonly inputs: readonly DecodedArgument[];
}

/** A log entry. */
export interface LogEntry {
  /** 32 bytes each; the first is the hash of the event. */
  readonly topics: readonly Buffer[];
  readonly data: Buffer;
}

/** Name of a parameter, and whether it is indexed, as a contract declares it. */
export type DeclaredImmutable = Readonly<Record<string, unknown>>;

const DYNAMIC: ReadonlySet<string> = new Set(['bytes', 'string']);
/** Maximum choices of indexed parameters that are tried if no contract declares the event. */
const MAX_CHOICES = 200;
/** Cost of an attempt in addition to its bytes. */
const ATTEMPT_BYTES = 256;

/** Decoding budget of one request: attempts and text, in bytes. */
export class DecodingBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** @throws FullmatchError request_too_complex */
  spend(bytes: number): void {
    this.#left -= ATTEMPT_BYTES + bytes;
    if (this.#left >= 0) return;
    throw new FullmatchError(
      'request_too_complex',
      'Decoding this takes too much work for one request; request less at once.',
    );
  }
}

/** The arguments of a call, if they are the strict encoding of values of the signature's types. */
export function decodeCall(
  { name, inputs }: ParsedSignature,
  data: Buffer,
  budget: DecodingBudget,
): DecodedAbi | undefined {
  budget.spend(data.length);
  const values = decodeStrictly(inputs, data);
  if (values === undefined) return undefined;
  budget.spend(textBytes(inputs, data));
  return { name, inputs: describeAll(inputs, values, 'arg') };
}

/** Each level of tuples repeats its values. */
const textBytes = (types: readonly SignatureType[], data: Buffer): number =>
  2 * data.length * depthOf(types);
function depthOf(types: readonly SignatureType[]): number {
  return 1 + Math.max(0, ...types.map(({ components = [] }) => depthOf(components)));
}

/**
 * The first choices of indexed parameters that an undeclared event may have, as declarations. Each costs an
 * attempt.
 */
export function* guessDeclarations(
  { inputs }: ParsedSignature,
  { topics }: LogEntry,
): Generator<readonly DeclaredImmutable[]> {
  let tried = 0;
  for (const chosen of choose(topics.length - 1, inputs.length, 0)) {
    if ((tried += 1) > MAX_CHOICES) return;
    yield inputs.map((_, index) => ({ indexed: chosen.includes(index) }));
  }
}

/** Ascending combinations of that many numbers, one after another. */
function* choose(count: number, end: number, from: number): Generator<readonly number[]> {
  if (count === 0) yield [];
  for (let first = from; count > 0 && first <= end - count; first += 1) {
    for (const rest of choose(count - 1, end, first + 1)) yield [first, ...rest];
  }
}

/**
 * Decodes the arguments of an event by a declaration. For an indexed parameter of dynamic size the log
 * contains only a hash, which is returned as its value.
 */
export function decodeEvent(
  { name, inputs }: ParsedSignature,
  declared: readonly DeclaredImmutable[],
  { topics, data }: LogEntry,
  budget: DecodingBudget,
): DecodedAbi | undefined {
  const indexed = inputs.map((_, index) => declared[index]?.['indexed'] === true);
  const places = topics.slice(1);
  if (indexed.filter(Boolean).length !== places.length) return undefined;
  const plain = inputs.filter((_, index) => indexed[index] !== true);
  budget.spend(data.length);
  const values = decodeStrictly(plain, data);
  if (values === undefined) return undefined;
  budget.spend(textBytes(plain, data));
  const rest = [...values];
  const found: DecodedArgument[] = [];
  for (const [index, type] of inputs.entries()) {
    const isIndexed = indexed[index] === true;
    const value = isIndexed ? readTopic(type, places.shift()) : rest.shift();
    if (value === undefined) return undefined;
    const isHash = isIndexed && !isWord(type);
    const argument = describe(type, isHash ? undefined : value, nameOf(declared, index, 'arg'), {
      ...declared[index],
    });
    found.push({
      ...argument,
      ...(isHash && { value: (value as Buffer).toString('hex') }),
      indexed: isIndexed,
    });
  }
  return { name, inputs: found };
}

const isWord = ({ type, components }: SignatureType): boolean =>
  components === undefined && !type.endsWith(']') && !DYNAMIC.has(type);

function readTopic(type: SignatureType, topic: Buffer | undefined): StrictValue | undefined {
  return topic !== undefined && isWord(type) ? decodeStrictly([type], topic)?.[0] : topic;
}

function nameOf(declared: readonly DeclaredImmutable[], index: number, prefix: string): string {
  const name = declared[index]?.['name'];
  return typeof name === 'string' && name !== '' ? name : `${prefix}${index}`;
}

function describeAll(
  types: readonly SignatureType[],
  values: readonly StrictValue[],
  prefix: string,
  declared: readonly DeclaredImmutable[] = [],
): readonly DecodedArgument[] {
  return types.map((type, index) =>
    describe(type, values[index], nameOf(declared, index, prefix), declared[index]),
  );
}

function describe(
  type: SignatureType,
  value: StrictValue | undefined,
  name: string,
  declared: DeclaredImmutable = {},
): DecodedArgument {
  const members = type.type === 'tuple' && Array.isArray(value) ? value : undefined;
  const named = Array.isArray(declared['components']) ? declared['components'] : [];
  return {
    name,
    type: typeText(type),
    components:
      members === undefined
        ? []
        : describeAll(
            type.components ?? [],
            members as readonly StrictValue[],
            `${name}_`,
            named as readonly DeclaredImmutable[],
          ),
    value: value === undefined ? '' : valueText(type, value),
  };
}

function typeText({ type, components }: SignatureType): string {
  if (components === undefined) return type;
  return `(${components.map(typeText).join(',')})${type.slice('tuple'.length)}`;
}

function valueText(of: SignatureType, value: StrictValue): string {
  if (!Array.isArray(value)) return leafText(of.type, value as Buffer);
  const values = value as readonly StrictValue[];
  const { components = [] } = of;
  if (!of.type.endsWith(']')) return `(${textsOf(components, values).join(',')})`;
  const element = { ...of, type: of.type.slice(0, of.type.lastIndexOf('[')) };
  return `[${values.map((each) => valueText(element, each)).join(',')}]`;
}

const textsOf = (types: readonly SignatureType[], values: readonly StrictValue[]) =>
  types.map((type, index) => valueText(type, values[index] ?? []));

function leafText(type: string, value: Buffer): string {
  if (type === 'string') return value.toString('utf8');
  if (type === 'bytes') return value.toString('hex');
  if (type === 'bool') return value.at(-1) === 1 ? 'true' : 'false';
  if (type === 'address') return value.subarray(12).toString('hex');
  if (type === 'function') return value.subarray(0, 24).toString('hex');
  const [, bytes] = /^bytes(\d+)$/.exec(type) ?? [];
  if (bytes !== undefined) return value.subarray(0, Number(bytes)).toString('hex');
  return value.toString('hex').replace(/^0+(?=.)/, '');
}
