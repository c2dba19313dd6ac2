import { type ChainHealth } from '../chains/health/chain-health.ts';
import { type ContractLog, type LogQuery } from '../chains/logs/read-logs.ts';
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
import { type AskedFor, type TrustedProxies } from './client-of.ts';
import { type Activity } from '../publication/activity.ts';
import { type RecordAnswers } from './records/record-answers.ts';
import { type RequestReader } from './bodies/request-reader.ts';
import { type DocumentName, type Documents } from '../publication/documents.ts';
import { type HealthReport } from './health-schema.ts';
import { type Snapshot } from '../publication/snapshot.ts';

/** Where the hosts of this service are reached; one that is switched off is absent. */
export interface HostUrls {
  readonly api?: string;
  readonly repository?: string;
}

/** What the apps of both hosts need. */
export interface HttpParts {
  readonly documents: Documents;
  /** The current chain registry. @throws FullmatchError `not_ready` before it has been read */
  readonly registry: () => ChainRegistry;
  /** The pictures of chains. */
  readonly icons: () => ChainIcons;
  readonly health: () => HealthReport;
  /** How the endpoints of chains are. */
  readonly chainHealth: Pick<ChainHealth, 'report' | 'reports' | 'states'>;
  /** How chains are watched for new contracts. */
  readonly monitors: Pick<MonitorReports, 'report' | 'reports'>;
  /** Whether contracts are proxies. */
  readonly proxies: ProxyLookup;
  /** The creation of any contract, verified or not; undefined where it is not found. */
  readonly creations: ChainLookup<Hex, Creation | undefined>;
  /** The first events of a contract. */
  readonly logs: ChainLookup<LogQuery, readonly ContractLog[]>;
  /** What another explorer has verified. */
  readonly explorer: ExplorerSources;
  /** Reads verified contracts. */
  readonly contracts: ContractReader;
  /** Answers with large records of contracts. */
  readonly answers: RecordAnswers;
  /** Lists and searches verified contracts. */
  readonly contractLists: ContractLists;
  /** Signatures by their hashes and texts. */
  readonly signatures: SignatureDatabase;
  /** Statistics over time, and events as they happen. */
  readonly activity: Activity;
  /** What compiles. */
  readonly compilers: Pick<Compilers, 'listUsable'>;
  /** Reads the bodies of requests to verify. */
  readonly requests: RequestReader;
  /** Who may have contracts verified. */
  readonly access: Pick<AccessGate, 'verify' | 'admit' | 'requireToken'>;
  /** Verifies contracts. */
  readonly verification: Verification;
  /** Whose word is taken for whom a request comes from. */
  readonly trustedProxies: TrustedProxies;
  /** The largest body of a request to verify, in bytes; other bodies are held to the listener's own limit. */
  readonly verificationBytes: number;
  /** Whether programs may ask by the Model Context Protocol. */
  readonly isMcpEnabled: boolean;
  /** The version of the service, as in package.json. */
  readonly version: string;
  /** The number of the newest migration of the database schema, where it is known. */
  readonly schemaVersion?: number;
  /** The path prefixes at which the API host answers besides `/`; `''` and `/` mean none. */
  readonly apiPrefixes: readonly string[];
  /** The host of unlisted contracts, for the service itself. */
  readonly unlistedHost?: {
    request(path: string, init: RequestInit, env: AskedFor): Response | Promise<Response>;
  };
  /** Whether the contracts are unlisted ones. */
  readonly isUnlisted?: boolean;
  /** Asked for with every page, since a port may be known only after the apps are made. */
  readonly urls: () => HostUrls;
  /** The pages of the API host. */
  readonly pages: WebBundle;
  readonly log: Logger;
}

/**
 * The current snapshot of a document.
 * @throws FullmatchError `not_ready` before it has been published for the first time
 */
export function currentSnapshot(documents: Documents, name: DocumentName): Snapshot {
  const snapshot = documents.current[name];
  if (snapshot !== undefined) return snapshot;
  throw new FullmatchError(
    'not_ready',
    'The service has started but not read its data yet; ask again in a second.',
  );
}
