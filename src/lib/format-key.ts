/** A number, such as a chain id; a short name; or a longer one without digits, which long random keys contain. */
const NAME = /^(?:\d{1,16}|[A-Za-z0-9_-]{1,20}|[A-Za-z_-]{1,64})$/;

/**
 * Returns whether a configuration key looks like a name and may be shown. Any other text may be a misplaced
 * value, such as an API key, or the URL of an endpoint that contains one.
 */
export function looksLikeName(key: string): boolean {
  return NAME.test(key);
}

/** Replacement in messages for a key that does not look like a name. */
export const NOT_A_NAME = 'a key that is not a name';

/** Returns a key in quotes, or the replacement if it must not be shown. */
export function formatKey(key: string): string {
  return looksLikeName(key) ? `'${key}'` : NOT_A_NAME;
}
