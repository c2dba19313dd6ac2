import { isMembers, type Members } from '../lib/members.ts';

/** A name as compilers take one. */
const NAME = /^[A-Za-z_$][\w$]*$/;
/** The compiler nests no deeper. */
const MOST_DEPTH = 64;

/**
 * The signature of an entry of an ABI, `transfer(address,uint256)`, of which selectors and topics are made (Contract ABI
 * Specification, "Function Selector"); undefined where the entry has no form of one.
 */
export function signatureOf({ name, inputs = [] }: Members): string | undefined {
  if (typeof name !== 'string' || !NAME.test(name)) return undefined;
  const types = typesOf(inputs, 0);
  return types === undefined ? undefined : `${name}(${types})`;
}

/** The types of parameters with commas between them; undefined where one has none. */
function typesOf(parameters: unknown, depth: number): string | undefined {
  if (!Array.isArray(parameters) || depth > MOST_DEPTH) return undefined;
  const types: string[] = [];
  for (const parameter of parameters as unknown[]) {
    const type = isMembers(parameter) ? typeOf(parameter, depth) : undefined;
    if (type === undefined) return undefined;
    types.push(type);
  }
  return types.join(',');
}

function typeOf({ type, components }: Members, depth: number): string | undefined {
  if (typeof type !== 'string' || type === '') return undefined;
  if (!type.startsWith('tuple')) return type;
  const inner = typesOf(components, depth + 1);
  return inner === undefined ? undefined : `(${inner})${type.slice('tuple'.length)}`;
}
