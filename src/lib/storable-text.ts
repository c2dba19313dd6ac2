/** Characters that text and jsonb columns of PostgreSQL reject: NUL, and lone surrogates, which UTF-8 cannot encode. */
const UNSTORABLE = /\u0000|\p{Surrogate}/u;
const ALL_UNSTORABLE = new RegExp(UNSTORABLE, 'gu');

/** Returns whether a column accepts this text unchanged. */
export function isStorableText(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** Returns whether a jsonb column accepts all names and texts of a JSON value unchanged. */
export function isStorableJson(value: unknown): boolean {
  const open = [value];
  while (open.length > 0) {
    const member = open.pop();
    if (typeof member === 'string' && !isStorableText(member)) return false;
    if (typeof member !== 'object' || member === null) continue;
    for (const [name, each] of Object.entries(member)) {
      if (!isStorableText(name)) return false;
      open.push(each);
    }
  }
  return true;
}

/**
 * Serializes a value as JSON for a jsonb column; characters that it rejects are replaced with U+FFFD, in
 * names and in texts.
 */
export function toStorableJson(value: unknown): string {
  const clean = (text: string): string => text.replaceAll(ALL_UNSTORABLE, '\ufffd');
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'string') return clean(member);
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).map(([name, each]) => [clean(name), each]));
  });
}
