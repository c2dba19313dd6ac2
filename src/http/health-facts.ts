import { type HealthSummary } from '../chains/health/health-report.ts';

/** What the registry says of itself. */
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

/** What the sync with the public list says of itself. */
export interface ListSyncHealth {
  /** When a source last gave or confirmed the list that is served. */
  readonly confirmedAt?: Date;
  /** Since when and why none does: the list that is served is an older one. */
  readonly failure?: { readonly since: Date; readonly message: string };
  /** Chains whose records in the list of this hash are not believed. */
  readonly heldBack?: { readonly chainIds: readonly number[]; readonly sha256: string };
}

/** How the configuration in force came to be. */
export interface ConfigurationHealth {
  readonly loadedAt: Date;
  /** Since when a newer one is refused, and why. */
  readonly refusal?: { readonly since: Date; readonly detail: string };
}

/** What the statistics say of themselves. */
export interface StatisticsHealth {
  readonly chains: number;
  readonly full: number;
  readonly partial: number;
  /** When the counts last changed. */
  readonly lastModified: Date;
  /** When they were last compared with the database. */
  readonly confirmedAt: Date;
}

/** Whether the database answers. */
export interface DatabaseHealth {
  readonly reachable: boolean;
  readonly checkedAt: Date;
}

/** What is wrong with the database, as statements of this process met it. */
export interface StoreHealth {
  /** Since when it does not answer, though it takes connections. */
  readonly hungSince?: Date;
  readonly troubles: readonly {
    readonly code: 'disk_full' | 'database_unavailable' | 'database_damaged';
    readonly since: Date;
  }[];
}

/** The verification jobs in flight, of all processes of the database. */
export interface QueueHealth {
  readonly queued: number;
  readonly running: number;
  /** When the job that waits longest was submitted; absent when none waits. */
  readonly oldestQueuedAt?: Date;
}

/** The compilers of this process. */
export interface CompilersHealth {
  /** Compilations at work. */
  readonly running: number;
  /** Compilations that wait for a place. */
  readonly waiting: number;
  /** Loaded compilers that wait for work. */
  readonly idle: number;
  /** What the waiting ones held when they were last looked at. */
  readonly idleBytes: number;
}

/** Facts from which the answers about health are composed. What is not known yet is absent. */
export interface HealthFacts {
  readonly now: Date;
  readonly startedAt: Date;
  readonly registry?: RegistryHealth;
  readonly listSync?: ListSyncHealth;
  readonly configuration?: ConfigurationHealth;
  readonly statistics?: StatisticsHealth;
  readonly database?: DatabaseHealth;
  readonly store?: StoreHealth;
  readonly queue?: QueueHealth;
  readonly compilers?: CompilersHealth;
  /** As this process sees them. */
  readonly probedChains?: HealthSummary;
  /** Which of the published documents have a snapshot. */
  readonly documents: { readonly chains: boolean; readonly statistics: boolean };
  /** Whether the service has been told to end. */
  readonly stopping: boolean;
}
