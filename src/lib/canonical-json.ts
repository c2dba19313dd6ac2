/**
 * Serializes a value as JSON with sorted object keys at every level and no whitespace: equal values give
 * equal bytes, so that they can be compared and hashed. `undefined` members are left out, as in
 * JSON.stringify. The value must be plain data: a result of JSON.parse, or literals.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(inOrder(value));
}

/** Returns a value with sorted keys; the same object if they are already sorted, as in compiler output. */
function inOrder(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const members = value as readonly unknown[];
    const ordered = members.map(inOrder);
    return ordered.every((member, index) => member === members[index]) ? value : ordered;
  }
  const members = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members);
  let isSame = keys.every((key, index) => index === 0 || (keys[index - 1] as string) < key);
  if (!isSame) keys.sort();
  const ordered = keys.map((key): [string, unknown] => {
    const member = inOrder(members[key]);
    isSame &&= member === members[key];
    return [key, member];
  });
  return isSame ? value : Object.fromEntries(ordered);
}
