import { RE2JS } from 're2js';
import { containsPlaceholder } from './public-rpc.ts';

/** Placeholder of the contract's address in contractFetchAddress. */
const ADDRESS_PLACEHOLDER = '${ADDRESS}';

/**
 * Longer than any explorer needs (the longest of 2023 is 70 characters); it bounds the regex that readers of
 * the record compile.
 */
const TX_REGEX_MAX_CHARACTERS = 500;

const SAMPLE_ADDRESS = `0x${'0'.repeat(40)}`;

/** Query keys that carry a credential, without separators and in lower case. */
const CREDENTIAL_KEYS: ReadonlySet<string> = new Set(
  [
    'key apikey apitoken appkey appid xapikey accesskey accesstoken token authtoken auth authorization',
    'bearer jwt secret clientsecret password passwd pwd pass credential credentials signature sig',
  ].flatMap((line) => line.split(' ')),
);
const CREDENTIAL_ENDINGS = ['apikey', 'token', 'secret', 'password'] as const;

function isCredentialKey(key: string): boolean {
  const plain = key.toLowerCase().replace(/[^a-z0-9]/g, '');
  return CREDENTIAL_KEYS.has(plain) || CREDENTIAL_ENDINGS.some((ending) => plain.endsWith(ending));
}

/**
 * Describes what is wrong with a txRegex and how to fix it; undefined if it is valid: it compiles in a
 * linear-time engine (RE2) and has exactly one capture group, which matches the creation transaction's hash
 * on the explorer's page.
 */
export function findTxRegexFault(pattern: string): string | undefined {
  if (pattern.length > TX_REGEX_MAX_CHARACTERS) {
    return `is longer than ${TX_REGEX_MAX_CHARACTERS} characters; shorten it to the text around the hash`;
  }
  let groups: number;
  try {
    groups = RE2JS.compile(pattern).groupCount();
  } catch (error) {
    const message = error instanceof Error ? error.message : 'unknown';
    // The engine quotes the faulty part, which may be a misplaced secret; punctuation alone is not.
    const reason = message.replace(/: `(.*)`$/s, (quote, part: string) =>
      /[A-Za-z0-9]/.test(part) ? '' : quote,
    );
    return (
      `does not compile in a linear-time engine (${reason}); ` +
      'write it in RE2 syntax, without lookahead, lookbehind and backreferences'
    );
  }
  if (groups === 1) return undefined;
  return groups === 0
    ? 'has no capture group; put ( ) around the part that is the transaction hash'
    : `has ${groups} capture groups; keep one, around the transaction hash, and write the others as (?: )`;
}

/** The URL of a contract's page on an explorer, from a valid contractFetchAddress. */
export function fillFetchAddress(template: string, address: string): string {
  return template.replace(ADDRESS_PLACEHOLDER, () => address);
}

function findUrlFault(template: string): string | undefined {
  let url: URL;
  try {
    url = new URL(template.replace(ADDRESS_PLACEHOLDER, SAMPLE_ADDRESS));
  } catch {
    return 'is not a URL; write it as https://host/path';
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return 'is neither http nor https; write it as https://host/path';
  }
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(template)) {
    return 'contains user information, and this field is public; remove it';
  }
  if (!`${url.pathname}${url.search}`.includes(SAMPLE_ADDRESS)) {
    return `holds ${ADDRESS_PLACEHOLDER} outside of path and query, so the explorer never receives it; move it`;
  }
  const fragment = new URLSearchParams(url.hash.slice(1));
  const key = [...url.searchParams.keys(), ...fragment.keys()].find(isCredentialKey);
  return key === undefined
    ? undefined
    : `holds the query key ${JSON.stringify(key.slice(0, 40))}, which looks like a credential, and this field is public; remove it`;
}

/**
 * Describes what is wrong with a contractFetchAddress and how to fix it; undefined if it is valid: an http(s)
 * URL that contains `${ADDRESS}` exactly once, in path or query, and neither another placeholder nor a
 * credential.
 */
export function findFetchAddressFault(template: string): string | undefined {
  const count = template.split(ADDRESS_PLACEHOLDER).length - 1;
  if (count !== 1) {
    return `holds ${ADDRESS_PLACEHOLDER} ${count} times; write it exactly once, where the contract's address belongs`;
  }
  if (/[\s\\]/.test(template)) return 'contains white space or a backslash; remove it';
  if (containsPlaceholder(template.replace(ADDRESS_PLACEHOLDER, SAMPLE_ADDRESS))) {
    return `holds a placeholder other than ${ADDRESS_PLACEHOLDER}; write its value, or remove it if it is a key`;
  }
  return findUrlFault(template);
}
