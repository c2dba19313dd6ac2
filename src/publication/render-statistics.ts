import { type ChainRegistry } from '../chains/registry/registry.ts';
import type {
  HistoryQuery,
  MatchCounts,
  StatisticsHistory,
  StatisticsOverview,
} from '../repository/repository.ts';

const SHARE_DIGITS = 1e6;

function shareOf({ full, partial }: MatchCounts): number | null {
  if (full + partial === 0) return null;
  return Math.round((full / (full + partial)) * SHARE_DIGITS) / SHARE_DIGITS;
}

/** Body of GET /v1/statistics. */
export function renderOverview(
  { asOf, chains, uniqueCodes, ...rest }: StatisticsOverview,
  registry: ChainRegistry,
): Buffer {
  const names = new Map(registry.chains.map(({ record }) => [record.chainId, record.name]));
  const sum = (all: readonly MatchCounts[]): MatchCounts => ({
    full: all.reduce((total, { full }) => total + full, 0),
    partial: all.reduce((total, { partial }) => total + partial, 0),
  });
  const overview = {
    asOf: asOf.toISOString(),
    eventNumber: rest.eventNumber,
    position: rest.position,
    totals: {
      ...sum(chains),
      claimed: sum(chains.map(({ claimed }) => claimed)),
      chains: chains.filter(({ full, partial }) => full + partial > 0).length,
      uniqueCodes,
    },
    changes: rest.changes,
    chains: chains.map(({ chainId, full, partial, claimed, firstVerifiedAt, lastVerifiedAt }) => ({
      chainId,
      name: names.get(chainId) ?? `Unknown chain ${chainId}`,
      full,
      partial,
      claimed,
      share: shareOf({ full, partial }),
      firstVerifiedAt: firstVerifiedAt?.toISOString() ?? null,
      lastVerifiedAt: lastVerifiedAt?.toISOString() ?? null,
    })),
    origins: rest.origins,
    trusts: rest.trusts,
    compilers: rest.compilers,
  };
  return Buffer.from(JSON.stringify(overview));
}

/** Body of GET /v1/statistics/history. */
export function renderHistory(
  { interval, from, to, chainIds }: HistoryQuery,
  { position, points, withdrawals }: StatisticsHistory,
): Buffer<ArrayBuffer> {
  const rendered = {
    interval,
    from,
    to,
    position,
    chains: chainIds ?? null,
    points,
    withdrawals,
  };
  return Buffer.from(JSON.stringify(rendered));
}
