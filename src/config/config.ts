import { type ServiceChain } from '../chains/service-chain.ts';
import { type NamedSecret, type Secret } from '../lib/secret.ts';
import { type LogLevel } from '../log.ts';

/** How log lines look. `auto` is `human` on a terminal and `json` elsewhere. */
export type LogFormat = 'auto' | 'json' | 'human';

/** The validated configuration. Every key is described in fullmatch.example.yaml. */
export interface Config {
  /** The address that both hosts bind. */
  readonly host: string;
  readonly api: {
    readonly enabled: boolean;
    /** 0 picks a free port. */
    readonly port: number;
    /** Begins with `/` and does not end with it; empty for no prefix. */
    readonly prefix: string;
    readonly publicUrl?: string;
  };
  readonly repository: {
    readonly enabled: boolean;
    /** 0 picks a free port. */
    readonly port: number;
    readonly publicUrl?: string;
  };
  readonly http: {
    /** Addresses and CIDR networks whose word is taken for whom they ask. */
    readonly trustedProxies: readonly string[];
  };
  /** Prometheus metrics, on 127.0.0.1 whatever `host` says. */
  readonly metrics: { readonly enabled: boolean; readonly port: number };
  /** An absolute path. */
  readonly dataDir: string;
  readonly database: {
    /** Absent: the embedded server. */
    readonly url?: Secret;
    readonly poolSize: number;
    /** Bytes that stay free on the disk of the embedded server. */
    readonly minFreeBytes: number;
    /** An absolute path of a folder that holds `postgres` and `initdb`, 15 or newer. */
    readonly binaries?: string;
  };
  readonly registry: {
    readonly include: 'all' | 'configured';
    /** An absolute path of the operator's own chain list, a JSON array. */
    readonly list?: string;
    readonly defaults: boolean;
    readonly localChains: boolean;
    /** An absolute path of a folder of pictures. */
    readonly icons?: string;
    readonly sync: {
      /** In order; URLs, and absolute paths of files. Empty: no sync. */
      readonly urls: readonly string[];
      readonly everySeconds: number;
      readonly maxShrinkPercent: number;
    };
  };
  /** `chains:` of the configuration file and the files of `chainsDirectory`, by chain id. */
  readonly chains: ReadonlyMap<number, ServiceChain>;
  readonly verification: {
    /** Verifications at once in this process; 0 leaves them to others. */
    readonly workers: number;
    readonly queueLimit: number;
    readonly clientQueueLimit: number;
    /** Requests of this process that wait for the ends of jobs: all, of one client, for one job. */
    readonly waitingRequests: number;
    readonly clientWaitingRequests: number;
    readonly jobWaitingRequests: number;
    readonly jobTimeoutMs: number;
    /** Verified contracts of each configured chain whose code is read again in an hour; 0 for none. */
    readonly recheckPerHour: number;
    /** The largest body of a request to verify. */
    readonly requestBytes: number;
  };
  readonly compilers: {
    /** An absolute path. */
    readonly folder: string;
    /** Absent: nothing is downloaded. */
    readonly downloadUrl?: string;
    readonly timeoutMs: number;
    readonly memoryBytes: number;
  };
  /** Probes of the endpoints of configured chains. */
  readonly health: {
    readonly enabled: boolean;
    readonly everySeconds: number;
    /** Requests to one host in a day. */
    readonly dailyBudget: number;
  };
  readonly events: {
    /** Clients of /v1/events at once. */
    readonly maxClients: number;
    /** Connections of one client among them. */
    readonly connectionsPerClient: number;
  };
  readonly log: { readonly level: LogLevel; readonly format: LogFormat };
  readonly limits: Limits;
}

/** Bounds on what a client may send and how long the service waits. */
export interface Limits {
  readonly requestBytes: number;
  readonly bodyMemoryBytes: number;
  readonly bodySpoolBytes: number;
  readonly clientBodyBytes: number;
  readonly answerCacheBytes: number;
  readonly answerBytes: number;
  readonly clientAnswerBytes: number;
  readonly jsonDepth: number;
  readonly jsonValues: number;
  readonly sources: number;
  readonly sourceBytes: number;
  readonly headerBytes: number;
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly shutdownTimeoutMs: number;
}

/** The configuration and where it came from. */
export interface LoadedConfig {
  readonly config: Config;
  /**
   * Dotted key → `default`, the file's name, `environment FULLMATCH_HOST` or `flag --host`.
   * A configured chain has the key `chains.<chainId>`.
   */
  readonly origins: ReadonlyMap<string, string>;
  /** Everything that must not appear in any output. */
  readonly secrets: readonly NamedSecret[];
  /** The configuration file that was read, as it is shown to the operator. */
  readonly file?: string;
  /** The absolute path of the folder whose files add to `chains`; it need not exist. */
  readonly chainsDirectory?: string;
}
