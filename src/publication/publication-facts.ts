import { type ChainRegistry } from '../chains/registry/registry.ts';
import type { Statistics } from '../repository/repository.ts';

/** Identity of the current registry. */
export interface RegistryHealth {
  /** `embedded` or the name of the operator's list. */
  readonly source: string;
  readonly sha256: string;
  readonly chains: number;
  readonly supported: number;
  readonly monitored: number;
  readonly findings: { readonly error: number; readonly warning: number; readonly info: number };
  readonly loadedAt: Date;
}

/** State of the statistics. */
export interface StatisticsHealth {
  readonly chains: number;
  readonly full: number;
  readonly partial: number;
  /** When the counts last changed. */
  readonly lastModified: Date;
  /** When they were last compared with the database. */
  readonly confirmedAt: Date;
}

/** Whether the database responds. */
export interface DatabaseHealth {
  readonly reachable: boolean;
  readonly checkedAt: Date;
}

/** Health of a publication. Unknown values are absent. */
export interface PublicationFacts {
  readonly registry?: RegistryHealth;
  readonly statistics?: StatisticsHealth;
  readonly database?: DatabaseHealth;
  /** Time since which following the feed has failed. */
  readonly feedFailingSince?: Date;
  /** Which of the published documents have a snapshot; absent if none is made. */
  readonly documents?: { readonly chains: boolean; readonly statistics: boolean };
}

export function describeRegistry(registry: ChainRegistry, loadedAt: Date): RegistryHealth {
  const findings = { error: 0, warning: 0, info: 0 };
  for (const { level } of registry.findings) findings[level] += 1;
  return {
    source: registry.listSource,
    sha256: registry.listSha256,
    chains: registry.chains.length,
    supported: registry.chains.filter(({ record }) => record.supported).length,
    monitored: registry.chains.filter(({ record }) => record.monitored).length,
    findings,
    loadedAt,
  };
}

export function describeStatistics(
  { chains, lastModified }: Statistics,
  confirmedAt: Date,
): StatisticsHealth {
  const sum = (kind: 'full' | 'partial'): number =>
    chains.reduce((total, counts) => total + counts[kind], 0);
  return {
    chains: chains.length,
    full: sum('full'),
    partial: sum('partial'),
    lastModified,
    confirmedAt,
  };
}
