const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Whether a key of a configuration may be shown: it looks like a name. Another text may be a value in the wrong place,
 * such as the URL of an endpoint with its API key.
 */
export function looksLikeName(key: string): boolean {
  return NAME.test(key);
}

/** What a message says in place of a key that does not look like a name. */
export const NOT_A_NAME = 'a key that is not a name';

/** A key in quotes, or what it is where it must not be shown. */
export function showKey(key: string): string {
  return looksLikeName(key) ? `'${key}'` : NOT_A_NAME;
}
