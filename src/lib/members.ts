/** The members of a JSON object, with values of unknown type. */
export type Members = Readonly<Record<string, unknown>>;

/** Returns whether a value is a JSON object, excluding arrays. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a value if it is a JSON object, else an empty one. */
export function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}
