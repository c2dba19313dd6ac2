import { type HealthSummary } from '../chains/health/health-report.ts';
import { type CompilersState } from '../compilers/compilers.ts';
import { type MonitorReport } from '../monitor/monitor-report.ts';
import { type PublicationFacts } from '../publication/publication-facts.ts';
import { type QueueState } from '../verification/jobs/queue-state.ts';

/** Health of the sync with the public chain list. */
export interface ListSyncHealth {
  /** When a source last delivered or confirmed the served list. */
  readonly confirmedAt?: Date;
  /** When and why syncing began to fail; an older list is served meanwhile. */
  readonly failure?: { readonly since: Date; readonly message: string };
  /** Chains whose records in the list with this hash are rejected as implausible. */
  readonly heldBack?: { readonly chainIds: readonly number[]; readonly sha256: string };
}

/** State of the active configuration. */
export interface ConfigurationHealth {
  readonly loadedAt: Date;
  /** Since when and why a newer configuration is rejected. */
  readonly refusal?: { readonly since: Date; readonly detail: string };
}

/** Health of the database, as this process's statements observe it. */
export interface StoreHealth {
  /** Since when it accepts connections without answering. */
  readonly hungSince?: Date;
  readonly troubles: readonly {
    readonly code: 'disk_full' | 'database_unavailable' | 'database_damaged' | 'database_behind';
    readonly since: Date;
  }[];
}

/** Facts from which the health responses are composed. Unknown facts are absent. */
export interface HealthFacts extends PublicationFacts {
  readonly now: Date;
  readonly startedAt: Date;
  readonly listSync?: ListSyncHealth;
  readonly configuration?: ConfigurationHealth;
  readonly store?: StoreHealth;
  readonly queue?: QueueState;
  readonly compilers?: CompilersState;
  /** As this process observes them. */
  readonly probedChains?: HealthSummary;
  /** Monitoring of chains for new contracts; absent if it is not configured. */
  readonly monitors?: readonly MonitorReport[];
  /** Whether the service is shutting down. */
  readonly stopping: boolean;
}
