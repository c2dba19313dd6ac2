import { isMembers, type Members } from '../lib/members.ts';

/** A valid identifier. */
const NAME = /^[A-Za-z_$][\w$]*$/;
/** The compiler's nesting limit. */
const MAX_DEPTH = 64;

/**
 * Returns the signature of an ABI entry, `transfer(address,uint256)`, the basis of selectors and topics
 * (Contract ABI Specification, "Function Selector"); undefined if the entry is malformed.
 */
export function signatureOf({ name, inputs = [] }: Members): string | undefined {
  if (typeof name !== 'string' || !NAME.test(name)) return undefined;
  const types = typesOf(inputs, 0);
  return types === undefined ? undefined : `${name}(${types})`;
}

/** Returns the comma-separated types of parameters; undefined if one is malformed. */
function typesOf(parameters: unknown, depth: number): string | undefined {
  if (!Array.isArray(parameters) || depth > MAX_DEPTH) return undefined;
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
