import { type Secret } from '../../lib/secret.ts';

/**
 * An explorer quotes a key a few times at most. A client chooses its own key: a single letter could occur
 * millions of times.
 */
const MAX_QUOTES = 1_000;
const INSTEAD = Buffer.from('***');

/**
 * Removes the key from an explorer's response, also in URL and JSON spellings: explorers quote keys in
 * refusals, which are shown to the client. Undefined if the response contains the key too often.
 */
export function withoutKey(body: Buffer, apiKey: Secret): Buffer | undefined {
  const key = apiKey.reveal();
  if (key === '') return body;
  const inUrl = new URLSearchParams({ key }).toString().slice('key='.length);
  const spellings = [key, inUrl, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)];
  return [...new Set(spellings)]
    .map((each) => Buffer.from(each))
    .sort((left, right) => right.length - left.length)
    .reduce<Buffer | undefined>((rest, each) => rest && withoutQuotes(rest, each), body);
}

function withoutQuotes(body: Buffer, quoted: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = body.indexOf(quoted); at !== -1; at = body.indexOf(quoted, from)) {
    if (parts.length > 2 * MAX_QUOTES) return undefined;
    parts.push(body.subarray(from, at), INSTEAD);
    from = at + quoted.length;
  }
  return parts.length === 0 ? body : Buffer.concat([...parts, body.subarray(from)]);
}
