/** Counts of contracts at their best match. */
export interface MatchCounts {
  readonly full: number;
  readonly partial: number;
}

/** GET /v1/statistics. */
export interface StatisticsOverview {
  readonly asOf: string;
  readonly eventNumber: string;
  readonly totals: MatchCounts & { readonly chains: number; readonly uniqueCodes: number };
  readonly changes: { readonly day: MatchCounts; readonly week: MatchCounts };
  readonly chains: readonly ChainCounts[];
}

/** The counts of a chain in {@link StatisticsOverview}. */
export interface ChainCounts extends MatchCounts {
  readonly chainId: number;
  readonly name: string;
  readonly share: number | null;
  readonly firstVerifiedAt: string | null;
  readonly lastVerifiedAt: string | null;
}

/** The counts at the end of a day, or of a longer interval that ends with it. */
export interface HistoryPoint extends MatchCounts {
  readonly date: string;
}

/** GET /v1/statistics/history. */
export interface StatisticsHistory {
  readonly from: string;
  readonly to: string;
  readonly points: readonly HistoryPoint[];
  readonly falls: readonly (HistoryPoint & { readonly chainId: number; readonly reason: string })[];
}

/** A verified contract in the answers of GET /v1/contracts. */
export interface ContractItem {
  readonly chainId: number;
  readonly address: string;
  readonly match: 'full' | 'partial';
  readonly name: string | null;
  readonly language?: string | null;
  readonly compilerVersion?: string | null;
  readonly origin: string;
  readonly verifiedAt: string;
}

/** GET /v1/contracts. */
export interface ContractPage {
  readonly results: readonly ContractItem[];
  readonly next: string | null;
}

/** What the pages need of GET /health. */
export interface Health {
  readonly status: 'ok' | 'degraded';
  readonly reasons: readonly {
    readonly code: string;
    readonly detail: string;
    readonly since?: string;
  }[];
  readonly registry?: {
    readonly source: string;
    readonly sha256: string;
    readonly chains: number;
    readonly supported: number;
    readonly monitored: number;
    readonly stale: boolean;
    readonly ageSeconds: number;
    readonly confirmedSecondsAgo?: number;
  };
  readonly statistics?: MatchCounts & {
    readonly chains: number;
    readonly lastModified: string;
    readonly confirmedSecondsAgo: number;
  };
  readonly database?: { readonly reachable: boolean };
  readonly queue?: {
    readonly queued: number;
    readonly running: number;
    readonly oldestQueuedSeconds?: number;
  };
  readonly compilers?: {
    readonly running: number;
    readonly waiting: number;
    readonly warm: number;
  };
  readonly probedChains?: {
    readonly up: number;
    readonly degraded: number;
    readonly down: number;
    readonly unknown: number;
  };
}

/** GET /v1/registry. */
export interface RegistryOverview {
  readonly list: { readonly source: string; readonly sha256: string };
  readonly chains: readonly RegistryLine[];
}

/** A chain in {@link RegistryOverview}. */
export interface RegistryLine {
  readonly chainId: number;
  readonly name: string;
  readonly shortName?: string;
  readonly currency?: string;
  readonly currencyName?: string;
  readonly supported: boolean;
  readonly monitored: boolean;
  readonly testnet: boolean;
  readonly status?: string;
  readonly health?: 'unknown' | 'up' | 'degraded' | 'down';
  readonly warnings: readonly string[];
  readonly formerNames?: readonly string[];
}

/** A contract, and what became of its match last. */
export interface ListedContract {
  readonly key: string;
  /** `stored`, `upgraded`, `withdrawn`. */
  readonly kind: string;
  readonly chainId: number;
  readonly chainName?: string | undefined;
  readonly address: string;
  readonly match: 'full' | 'partial' | null;
  readonly name: string | null;
  readonly language?: string | null;
  readonly compilerVersion?: string | null;
  readonly origin?: string;
  readonly at: string;
}
