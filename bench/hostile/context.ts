/** What the processes of the benchmark tell each other, as JSON in an argument. */
export interface HostileContext {
  readonly apiPort: number;
  /** Where a bare handler sends what `GET /chains` answers; no load asks it. */
  readonly barePort: number;
  readonly chainId: number;
  /** How long a load lasts. */
  readonly seconds: number;
  /** A verified contract, and contracts whose code no load's sources give. */
  readonly verified: string;
  readonly targets: readonly string[];
  /** The failed job with the largest codes that the service took, and the contract with the most files. */
  readonly largeJob?: string;
  readonly manyFiles?: string;
  /** A contract whose source holds very many characters that nobody sees. */
  readonly hidden?: string;
}

/** What a load saw: how often each status or error code came, and the jobs that were acknowledged. */
export interface LoadTally {
  readonly statuses: Record<string, number>;
  readonly jobs: string[];
  readonly note?: string;
}

/** Contracts to verify, each once, with the body that matches them. */
export interface ProbeWork {
  readonly addresses: readonly string[];
  readonly body: object;
}

/** What the probe saw: times in milliseconds, statuses counted, and the jobs that were acknowledged. */
export interface ProbeReport {
  readonly routes: Readonly<Record<string, { times: number[]; statuses: Record<string, number> }>>;
  readonly matched: readonly string[];
  readonly jobs: readonly string[];
}

/** What the probe asks of the bare handler: how late it is there, the machine makes everybody. */
export const BARE_ROUTE = 'bare';

/** The address of a proxy that the service is configured to trust, in versions that have this setting. */
export const PROXY_ADDRESS = '127.0.0.9';

/** 371 bytes that take longer to compile than anyone waits; the salt makes each another input. */
export function compileBomb(salt: string): string {
  const head = `contract A{uint a;modifier m{_;_;}function f()public `;
  const tail = `{a++;}}//${salt}`;
  const times = Math.floor((371 - head.length - tail.length) / 2);
  return `${head}${'m '.repeat(times)}${tail}`;
}

/** The body of POST /v2/verify for one source that declares the contract A. */
export function bodyOfSource(content: string): object {
  return {
    stdJsonInput: {
      language: 'Solidity',
      sources: { 'a.sol': { content } },
      settings: { optimizer: { enabled: true, runs: 200 } },
    },
    compilerVersion: '0.8.37',
    contractIdentifier: 'a.sol:A',
  };
}
