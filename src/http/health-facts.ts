import { type HealthSummary } from '../chains/health/health-report.ts';
import { type CompilersState } from '../compilers/compilers.ts';
import { type MonitorReport } from '../monitor/monitor-report.ts';
import { type PublicationFacts } from '../publication/publication-facts.ts';
import { type QueueState } from '../verification/jobs/queue-state.ts';

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

/** What is wrong with the database, as statements of this process met it. */
export interface StoreHealth {
  /** Since when it does not answer, though it takes connections. */
  readonly hungSince?: Date;
  readonly troubles: readonly {
    readonly code: 'disk_full' | 'database_unavailable' | 'database_damaged' | 'database_behind';
    readonly since: Date;
  }[];
}

/** Facts from which the answers about health are composed. What is not known yet is absent. */
export interface HealthFacts extends PublicationFacts {
  readonly now: Date;
  readonly startedAt: Date;
  readonly listSync?: ListSyncHealth;
  readonly configuration?: ConfigurationHealth;
  readonly store?: StoreHealth;
  readonly queue?: QueueState;
  readonly compilers?: CompilersState;
  /** As this process sees them. */
  readonly probedChains?: HealthSummary;
  /** How chains are watched for new contracts; absent where none is to be. */
  readonly monitors?: readonly MonitorReport[];
  /** Whether the service has been told to end. */
  readonly stopping: boolean;
}
