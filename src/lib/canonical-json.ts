/**
 * JSON with object keys in code-unit order at every level and no white space:
 * equal values give equal bytes, so that they can be compared and hashed.
 * `undefined` members are left out, as in JSON.stringify.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (member === null || typeof member !== 'object' || Array.isArray(member)) return member;
    return Object.fromEntries(
      Object.entries(member).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)),
    );
  });
}
