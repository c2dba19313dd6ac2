/** Messages between the processes of the benchmark, as JSON in an argument. */
export interface HostileContext {
  readonly apiPort: number;
  /** URL at which a bare handler sends the response of `GET /chains`; no load uses it. */
  readonly barePort: number;
  readonly chainId: number;
  /** Duration of a load. */
  readonly seconds: number;
  /** A verified contract, and contracts whose bytecode no load's sources produce. */
  readonly verified: string;
  readonly targets: readonly string[];
  /** The failed job with the largest accepted bytecode, and the contract with the most files. */
  readonly largeJob?: string;
  readonly manyFiles?: string;
  /** A contract whose source contains very many invisible characters. */
  readonly hidden?: string;
}

/** Result of a load: the count of each status or error code, and the acknowledged jobs. */
export interface LoadTally {
  readonly statuses: Record<string, number>;
  readonly jobs: string[];
  readonly note?: string;
}

/** Contracts to verify once each, with the matching request bodies. */
export interface ProbeWork {
  readonly addresses: readonly string[];
  readonly body: object;
}

/** Result of the probe: times in milliseconds, counts of statuses, and the acknowledged jobs. */
export interface ProbeReport {
  readonly routes: Readonly<Record<string, { times: number[]; statuses: Record<string, number> }>>;
  readonly matched: readonly string[];
  readonly jobs: readonly string[];
}

/** Result of the probe's requests to the bare handler: its latency is the machine's. */
export const BARE_ROUTE = 'bare';

/** Address of a proxy that the service is configured to trust, in versions with this setting. */
export const PROXY_ADDRESS = '127.0.0.9';

/** 371 bytes that take longer to compile than any timeout; the salt makes each input unique. */
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
