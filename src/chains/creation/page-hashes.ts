import { RE2JS } from 're2js';
import { type Hex } from '../../lib/hex.ts';

/** Pages are searched in slices of this length. Each slice begins with the end of the one before. */
const SLICE_CHARACTERS = 16_384;
/** A match up to this length is whole in at least one slice. */
const OVERLAP_CHARACTERS = 4_096;
/** Finding where a group stands takes a hundred times as long as finding that a pattern matches at all. */
const MAX_SLICES_READ = 4;
const MAX_MATCHES_PER_SLICE = 500;

const HASH = /^0x[0-9a-f]{64}$/;
const HASH_ANYWHERE = /0x[0-9a-f]{64}/i;

/**
 * The creation transaction in the answers of explorers that speak JSON and have no txRegex, by the names that they
 * have for it: `creation_trx` (Telos), `creationTxHash` (Meter), `fromTxn` (BlocksScan), `txHash` (subnets of
 * Avalanche), `creation_tx_hash` and `creation_transaction_hash` (Blockscout). What it finds is checked on chain.
 */
export const JSON_TX_REGEX =
  '(?i)"(?:creation_?(?:trx|tx_?hash|transaction_?hash)|fromTxn|txHash)"\\s*:\\s*"(0x[0-9a-f]{64})"';

/** The page in overlapping slices; a short page is one slice, so that `^` and `$` mean what they say. */
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
 * The transaction hashes that the group of a txRegex finds on a page, each once, in the order of the page, in lower
 * case; what has not the shape of a hash is not a hit. The time is bounded for every page: only slices that hold the
 * shape of a hash and match are looked into, and only the first few of them.
 * @throws RE2JSException when the pattern does not compile, which the configuration refuses.
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
