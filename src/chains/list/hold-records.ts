import { getDomain, getHostname } from 'tldts';
import { type ChainList } from './chain-list.ts';
import { type ListRecord } from '../registry/list-record.ts';
import { distinctiveName } from '../registry/merge-chain.ts';
import { type ChainChange, type ListDifference } from './compare-lists.ts';
import { type ListRequirements } from './judge-list.ts';

/**
 * Finds the changes that are held back although the rest of the list is accepted: a chain in use, one with
 * contracts or a configured one, gets another name (ignoring case, punctuation and words such as "mainnet")
 * and all its RPC endpoints move to hosts that its current record does not name. A forged record looks like
 * this: verification would then query the forger's nodes. A chain that is really renamed keeps an endpoint,
 * or moves to a domain of its explorers or its site.
 */
export function findHeldChanges(
  { renamed }: Pick<ListDifference, 'renamed'>,
  requirements: Pick<ListRequirements, 'contractChainIds' | 'configuredChainIds'>,
): readonly ChainChange[] {
  return renamed.filter(
    ({ chainId, before, after }) =>
      (requirements.contractChainIds.has(chainId) ||
        requirements.configuredChainIds.has(chainId)) &&
      distinctiveName(before.name) !== distinctiveName(after.name) &&
      leavesKnownDomains(before, after),
  );
}

/** The list as it is served while these changes are held back: the current records replace its own. */
export function holdRecords(list: ChainList, inForce: readonly ListRecord[]): ChainList {
  if (inForce.length === 0) return list;
  const held = new Map(inForce.map((record) => [record.chainId, record]));
  const records = list.records.map((record) => held.get(record.chainId) ?? record);
  return { ...list, records };
}

/** Without RPC endpoints no one is misdirected by them: then all hosts that the newer record names count. */
function leavesKnownDomains(before: ListRecord, after: ListRecord): boolean {
  const known = domainsOf(urlsOf(before));
  const news = domainsOf(after.rpc.length > 0 ? after.rpc : urlsOf(after));
  return known.size + news.size > 0 && ![...news].some((domain) => known.has(domain));
}

function urlsOf({ rpc, explorers = [], infoURL }: ListRecord): readonly string[] {
  return [...rpc, ...explorers.map(({ url }) => url), ...(infoURL === undefined ? [] : [infoURL])];
}

/** Registrable domains. An IP address, or a name without a domain, represents itself. */
function domainsOf(urls: readonly string[]): ReadonlySet<string> {
  return new Set(urls.flatMap((url) => getDomain(url) ?? getHostname(url) ?? []));
}
