import { RE2JS } from 're2js';
import { type Hex } from '../../lib/hex.ts';

/** Pages are searched in slices of this length. Each slice begins with the end of the previous one. */
const SLICE_CHARACTERS = 16_384;
/** A match up to this length is complete in at least one slice. */
const OVERLAP_CHARACTERS = 4_096;
/** Locating a group takes a hundred times as long as testing whether a pattern matches. */
const MAX_SLICES_READ = 4;
const MAX_MATCHES_PER_SLICE = 500;

const HASH = /^0x[0-9a-f]{64}$/;
const HASH_ANYWHERE = /0x[0-9a-f]{64}/i;

/**
 * Default pattern for explorers with a JSON API and no txRegex, by their field names: `creation_trx` (Telos),
 * `creationTxHash` (Meter), `fromTxn` (BlocksScan), `txHash` (Avalanche subnets), `creation_tx_hash` and
 * `creation_transaction_hash` (Blockscout). Hits are checked on chain.
 */
export const JSON_TX_REGEX =
  '(?i)"(?:creation_?(?:trx|tx_?hash|transaction_?hash)|fromTxn|txHash)"\\s*:\\s*"(0x[0-9a-f]{64})"';

/** Splits the page into overlapping slices; a short page is one slice, so that `^` and `$` keep their meaning. */
function* slicesOf(page: string): Generator<string> {
  for (let at = 0; ; at += SLICE_CHARACTERS - OVERLAP_CHARACTERS) {
    yield page.slice(at, at + SLICE_CHARACTERS);
    if (at + SLICE_CHARACTERS >= page.length) return;
  }
}

function* hashesOf(pattern: RE2JS, slice: string): Generator<Hex> {
  const matcher = pattern.matcher(slice);
  for (let matches = 0; matches < MAX_MATCHES_PER_SLICE && matcher.find(); matches += 1) {
    const hit = matcher.group(1)?.toLowerCase() ?? '';
    if (HASH.test(hit)) yield hit as Hex;
  }
}

/**
 * The transaction hashes that the group of a txRegex captures on a page, without duplicates, in page order
 * and lower case; other captures are ignored. The time is bounded for every page: only slices that contain
 * the shape of a hash and match are examined, and only the first few of them.
 * @throws RE2JSException if the pattern does not compile, which the configuration refuses
 */
export function findPageHashes(txRegex: string, page: string, limit: number): readonly Hex[] {
  const pattern = RE2JS.compile(txRegex);
  const found = new Set<Hex>();
  let read = 0;
  for (const slice of slicesOf(page)) {
    if (!HASH_ANYWHERE.test(slice) || !pattern.test(slice)) continue;
    for (const hash of hashesOf(pattern, slice)) {
      found.add(hash);
      if (found.size === limit) return [...found];
    }
    read += 1;
    if (read === MAX_SLICES_READ) break;
  }
  return [...found];
}
