import { type Secret } from '../../lib/secret.ts';

/** An explorer quotes a key a few times. A client chooses its own: one letter of it may stand in an answer millions of times. */
const MOST_QUOTES = 1_000;
const INSTEAD = Buffer.from('***');

/**
 * An answer of an explorer without the key that it was asked with: explorers quote keys in refusals, which are shown to whoever
 * asks; in the spellings of URLs and JSON too. Undefined where it holds the key more often than anybody quotes it.
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
    if (parts.length > 2 * MOST_QUOTES) return undefined;
    parts.push(body.subarray(from, at), INSTEAD);
    from = at + quoted.length;
  }
  return parts.length === 0 ? body : Buffer.concat([...parts, body.subarray(from)]);
}
