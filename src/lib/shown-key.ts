/** A number, such as a chain id; a short name; or a longer one without digits, which long random keys have. */
const NAME = /^(?:\d{1,16}|[A-Za-z0-9_-]{1,20}|[A-Za-z_-]{1,64})$/;

/**
 * Whether a key of a configuration may be shown: it looks like a name. Another text may be a value in the wrong place,
 * such as an API key, or the URL of an endpoint with one in it.
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
