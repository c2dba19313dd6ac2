import { bytesToHex, checksumAddress } from '../lib/hex.ts';
import { isMembers } from '../lib/members.ts';
import { type AbiParameter, decodeStrictly, type StrictValue } from './strict-encoding.ts';

/** A decoded value in readable form, with its declaration. */
export interface DescribedValue {
  /** The declared name, or the index in a list; empty if it has neither. */
  readonly name: string;
  /** As in the ABI, for example `uint256` or `tuple[]`. */
  readonly type: string;
  /** Decimal numbers, checksummed addresses, plain text, other bytes as hex. */
  readonly value?: string;
  /** Instead of a value: the members of a tuple, the elements of a list. */
  readonly members?: readonly DescribedValue[];
}

/** More than anyone reads; a list of small elements could otherwise become a document of many megabytes. */
const MAX_VALUES = 500;
const MAX_PARAMETERS = 500;
const TYPE_CHARACTERS = 100;
const NAME_CHARACTERS = 200;
const DEPTH = 16;
const ADDRESS_AT = 12;
const FUNCTION_BYTES = 24;

interface Parameter extends AbiParameter {
  readonly name: string;
  readonly components?: readonly Parameter[];
}

/**
 * Decodes data by the parameters of an ABI (Contract ABI Specification, "Strict Encoding Mode").
 * @param parameters `inputs` of an ABI entry
 * @returns undefined if the data is not a strict encoding of such values, or contains more than 500
 */
export function describeValues(
  parameters: unknown,
  data: Uint8Array,
): readonly DescribedValue[] | undefined {
  const types = readParameters(parameters, { left: MAX_PARAMETERS }, 0);
  const values = types && decodeStrictly(types, data);
  if (types === undefined || values === undefined) return undefined;
  const budget = { left: MAX_VALUES };
  const described = describeAll(types, values, budget);
  return budget.left < 0 ? undefined : described;
}

interface Budget {
  left: number;
}

function readParameters(
  parameters: unknown,
  budget: Budget,
  depth: number,
): readonly Parameter[] | undefined {
  if (!Array.isArray(parameters) || depth > DEPTH) return undefined;
  const read: Parameter[] = [];
  for (const each of parameters as unknown[]) {
    budget.left -= 1;
    if (budget.left < 0 || !isMembers(each)) return undefined;
    const { name, type, components } = each;
    if (typeof type !== 'string' || type.length > TYPE_CHARACTERS) return undefined;
    const isTuple = type.startsWith('tuple');
    const members = isTuple ? readParameters(components, budget, depth + 1) : undefined;
    if (isTuple && members === undefined) return undefined;
    read.push({
      ...{ type, name: typeof name === 'string' ? name.slice(0, NAME_CHARACTERS) : '' },
      ...(members && { components: members }),
    });
  }
  return read;
}

function describeAll(
  types: readonly Parameter[],
  values: readonly StrictValue[],
  budget: Budget,
): readonly DescribedValue[] {
  const described: DescribedValue[] = [];
  for (const [index, type] of types.entries()) {
    budget.left -= 1;
    if (budget.left < 0) break;
    described.push(describe(type, values[index] ?? [], budget));
  }
  return described;
}

function describe(parameter: Parameter, value: StrictValue, budget: Budget): DescribedValue {
  const { name, type, components = [] } = parameter;
  if (!isList(value)) return { name, type, value: textOf(type, value) };
  if (!type.endsWith(']')) return { name, type, members: describeAll(components, value, budget) };
  const element = { ...parameter, type: type.slice(0, type.lastIndexOf('[')) };
  const elements = value
    .slice(0, Math.max(0, budget.left) + 1)
    .map((_each, index) => ({ ...element, name: String(index) }));
  return { name, type, members: describeAll(elements, value, budget) };
}

const isList = (value: StrictValue): value is readonly StrictValue[] => Array.isArray(value);

function textOf(type: string, value: Uint8Array): string {
  if (type === 'string') return readText(value) ?? bytesToHex(value);
  if (type === 'bytes') return bytesToHex(value);
  if (type === 'bool') return value.at(-1) === 1 ? 'true' : 'false';
  if (type === 'address') return checksumAddress(bytesToHex(value.subarray(ADDRESS_AT)));
  if (type === 'function') return bytesToHex(value.subarray(0, FUNCTION_BYTES));
  const [, kind, size = '256'] = /^(uint|int|bytes)(\d*)$/.exec(type) ?? [];
  if (kind === 'bytes') return bytesToHex(value.subarray(0, Number(size)));
  const number = BigInt(bytesToHex(value));
  if (kind === 'uint') return number.toString();
  if (kind === 'int') return BigInt.asIntN(Number(size || '256'), number).toString();
  return bytesToHex(value);
}

/** Decodes UTF-8 text; the EVM does not enforce it. */
function readText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
