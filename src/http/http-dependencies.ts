import { type ChainHealth } from '../chains/health/chain-health.ts';
import { type FoundLogs, type LogQuery } from '../chains/logs/read-logs.ts';
import { type ChainLookup } from '../chains/rpc/chain-lookup.ts';
import { type Creation } from '../chains/rpc/creation.ts';
import { type Hex } from '../lib/hex.ts';
import { type ProxyLookup } from '../chains/proxy/proxy-lookup.ts';
import { type ChainIcons } from '../chains/registry/chain-icons.ts';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import { type Compilers } from '../compilers/compilers.ts';
import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import type { ContractLists, ContractReader, SignatureDatabase } from '../repository/repository.ts';
import { type MonitorReports } from '../monitor/monitor-report.ts';
import { type ExplorerSources } from '../chains/explorer/explorer-sources.ts';
import { type Verification } from '../verification/verification.ts';
import { type AccessGate } from './access-gate.ts';
import { type WebBundle } from './api/pages/web-bundle.ts';
import { type ClientOf, type InProcessEnv } from './client-of.ts';
import { type Activity } from '../publication/activity.ts';
import { type RecordResponder } from './records/record-responder.ts';
import { type RequestReader } from './bodies/request-reader.ts';
import { type DocumentName, type Documents } from '../publication/documents.ts';
import { type HealthReport } from './health-schema.ts';
import { type Snapshot } from '../publication/snapshot.ts';

/** URLs of this service's hosts; a disabled host is absent. */
export interface HostUrls {
  readonly api?: string;
  readonly repository?: string;
}

/** Dependencies of the apps of both hosts. */
export interface HttpDependencies {
  readonly documents: Documents;
  /** The current chain registry. @throws FullmatchError `not_ready` before it has been read */
  readonly registry: () => ChainRegistry;
  /** Icons of chains. */
  readonly icons: () => ChainIcons;
  readonly health: () => HealthReport;
  /** Health of the endpoints of chains. */
  readonly chainHealth: Pick<ChainHealth, 'report' | 'reports' | 'states'>;
  /** Monitoring of chains for new contracts. */
  readonly monitors: Pick<MonitorReports, 'report' | 'reports'>;
  /** Finds out whether contracts are proxies. */
  readonly proxies: ProxyLookup;
  /** Finds the creation of any contract, verified or not; undefined if it is not found. */
  readonly creations: ChainLookup<Hex, Creation | undefined>;
  /** Finds the first events of a contract. */
  readonly logs: ChainLookup<LogQuery, FoundLogs>;
  /** Reads verified contracts from other explorers. */
  readonly explorer: ExplorerSources;
  /** Reads verified contracts. */
  readonly contracts: ContractReader;
  /** Builds responses with large contract records. */
  readonly answers: RecordResponder;
  /** Lists and searches verified contracts. */
  readonly contractLists: ContractLists;
  /** Finds signatures by hash and by text. */
  readonly signatures: SignatureDatabase;
  /** Statistics over time, and live events. */
  readonly activity: Activity;
  readonly compilers: Pick<Compilers, 'listUsable'>;
  /** Reads the bodies of verification requests. */
  readonly requests: RequestReader;
  /** Controls who may submit verifications. */
  readonly access: Pick<AccessGate, 'verify' | 'admit' | 'requireToken'>;
  /** Verifies contracts. */
  readonly verification: Verification;
  /** Names the client of a request. */
  readonly clientOf: ClientOf;
  /** Largest body of a verification request, in bytes; other bodies have the listener's limit. */
  readonly verificationBytes: number;
  /** Whether the Model Context Protocol is enabled. */
  readonly isMcpEnabled: boolean;
  /** Version of the service, as in package.json. */
  readonly version: string;
  /** Number of the newest database migration, if known. */
  readonly schemaVersion?: number;
  /** Path prefixes at which the API host answers in addition to `/`; `''` and `/` mean none. */
  readonly apiPrefixes: readonly string[];
  /** Host of unlisted contracts, for in-process requests. */
  readonly unlistedHost?: {
    request(path: string, init: RequestInit, env: InProcessEnv): Response | Promise<Response>;
  };
  /** Whether these parts serve unlisted contracts. */
  readonly isUnlisted?: boolean;
  /** Called for every page, since a port may be known only after the apps are created. */
  readonly urls: () => HostUrls;
  /** Pages of the API host. */
  readonly pages: WebBundle;
  readonly log: Logger;
}

/**
 * Returns the current snapshot of a document.
 * @throws FullmatchError `not_ready` until it has been published for the first time
 */
export function currentSnapshot(documents: Documents, name: DocumentName): Snapshot {
  const snapshot = documents.current[name];
  if (snapshot !== undefined) return snapshot;
  throw new FullmatchError(
    'not_ready',
    'The service has started but not read its data yet; ask again in a second.',
  );
}
