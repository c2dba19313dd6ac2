/** What text and jsonb columns of PostgreSQL refuse: a NUL, and halves of surrogate pairs, which UTF-8 cannot hold. */
const UNSTORABLE = /\u0000|\p{Surrogate}/u;
const ALL_UNSTORABLE = new RegExp(UNSTORABLE, 'gu');

/** Whether a column takes this text as it is. */
export function isStorableText(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** Whether a jsonb column takes all names and texts of a JSON value as they are. */
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

/** JSON that a jsonb column takes: what it refuses is replaced by U+FFFD, in names and in texts. */
export function toStorableJson(value: unknown): string {
  const clean = (text: string): string => text.replaceAll(ALL_UNSTORABLE, '\ufffd');
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'string') return clean(member);
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).map(([name, each]) => [clean(name), each]));
  });
}
