/** The members of a JSON object: what the value of each is, is not known yet. */
export type Members = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: it has members, and is not an array. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
