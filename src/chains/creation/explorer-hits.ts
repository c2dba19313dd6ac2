import { FetchFault } from '../../lib/fetch-fault.ts';
import { type FetchResponse } from '../../lib/guarded-fetch.ts';
import { checksumAddress } from '../../lib/hex.ts';
import { hostPortOf } from '../../lib/address-guard.ts';
import { fillFetchAddress } from '../registry/explorer-page.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type MethodResult } from './creation-search.ts';
import { type MethodDependencies } from './method-parts.ts';
import { findPageHashes, JSON_TX_REGEX } from './page-hashes.ts';

/** Longer pages are refused, also after decompression. */
const PAGE_MAX_BYTES = 1_000_000;
/** Each is checked on chain; a page with more wrong transactions than this is abandoned. */
const MAX_HITS = 3;

/**
 * Finds the creation transaction on an explorer's page: it fetches `contractFetchAddress` and searches it
 * with `txRegex`. The explorer is not trusted: its hits are checked on chain.
 */
export async function queryExplorer(parts: MethodDependencies): Promise<MethodResult> {
  const { contractFetchAddress, txRegex } = parts.chain.record;
  if (contractFetchAddress === undefined) return { outcome: 'not_configured' };
  const url = fillFetchAddress(contractFetchAddress, checksumAddress(parts.address));
  const { origin } = new URL(url);
  const page = await fetchPage(parts, url);
  if ('fault' in page) return { outcome: 'page_unavailable', detail: `${origin}: ${page.fault}` };
  const text = new TextDecoder().decode(page.body);
  const hashes = findPageHashes(txRegex ?? JSON_TX_REGEX, text, MAX_HITS);
  let end: MethodResult = { outcome: 'no_hit', detail: `${origin}: no_hit` };
  for (const hash of hashes) {
    const outcome = await parts.propose(hash);
    end = { outcome, detail: `${origin}: ${outcome}` };
    if (outcome === 'found') break;
  }
  return end;
}

async function fetchPage(
  { fetch, signal }: MethodDependencies,
  url: string,
): Promise<FetchResponse | { readonly fault: string }> {
  try {
    const headers = { accept: 'text/html, application/json' };
    const page = await fetch.fetch(url, { headers, signal, maxBytes: PAGE_MAX_BYTES });
    return page.status >= 200 && page.status <= 299 ? page : { fault: `status_${page.status}` };
  } catch (error) {
    if (error instanceof FetchFault) return { fault: error.code };
    throw error;
  }
}

/** The `host:port` of every configured explorer page; these may have private addresses. */
export function findExplorerHosts(chains: readonly RegisteredChain[]): readonly string[] {
  const hosts = chains.flatMap(({ record: { contractFetchAddress }, origins }) =>
    contractFetchAddress !== undefined && origins.contractFetchAddress === 'configuration'
      ? hostPortOf(new URL(contractFetchAddress))
      : [],
  );
  return [...new Set(hosts)];
}
