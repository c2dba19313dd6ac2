import { AccessGate } from '../../src/http/access-gate.ts';
import { type ChainIcons } from '../../src/chains/registry/chain-icons.ts';
import { type ChainRecord } from '../../src/chains/registry/chain-record.ts';
import { reportUnprobed } from '../../src/chains/health/health-report.ts';
import { type ChainRegistry } from '../../src/chains/registry/registry.ts';
import { Documents } from '../../src/publication/documents.ts';
import { FullmatchError } from '../../src/errors.ts';
import { type HealthFacts } from '../../src/http/health-facts.ts';
import { composeHealth } from '../../src/http/health.ts';
import { readWebBundle, type WebBundle } from '../../src/http/api/pages/web-bundle.ts';
import { type HttpDependencies } from '../../src/http/http-dependencies.ts';
import { type ListenerLimits } from '../../src/http/listener.ts';
import {
  RecordResponder,
  type RecordAnswersOptions,
} from '../../src/http/records/record-responder.ts';
import { silentLogger } from '../../src/log.ts';
import { type Verification } from '../../src/verification/verification.ts';
import { type Activity } from '../../src/publication/activity.ts';
import {
  createRequestReader,
  type RequestReaderOptions,
} from '../../src/http/bodies/request-reader.ts';
import { type ContractLists } from '../../src/repository/lists/contract-lists.ts';
import { type SignatureDatabase } from '../../src/repository/repository.ts';
import { type ContractReader } from '../../src/repository/matches/contract-reader.ts';
import { createClientOf } from '../../src/http/client-of.ts';

/** Limits that no ordinary test reaches. */
export const ROOMY_LIMITS: ListenerLimits = {
  requestBytes: 1_000_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 5_000,
};

/** Chains that can be referenced by id, by short name, by name, and not at all. */
export const FIXTURE_CHAINS: readonly ChainRecord[] = [
  record(1, 'Ethereum Mainnet', 'eth', true),
  record(5, 'Twin', 'twin-a', false),
  record(6, 'Twin', 'twin-b', false),
  record(Number.MAX_SAFE_INTEGER, 'Far Chain', 'far', true),
];

/** The counts of two of {@link FIXTURE_CHAINS}. */
export const FIXTURE_STATISTICS = {
  '1': { full_match: 3, partial_match: 2 },
  '5': { full_match: 0, partial_match: 7 },
};

/** Time of the last change of both fixture documents. */
export const FIXTURE_MODIFIED = new Date('2026-02-03T04:05:06.789Z');

export const FIXTURE_CHAINS_BYTES = Buffer.from(JSON.stringify(FIXTURE_CHAINS));
export const FIXTURE_STATISTICS_BYTES = Buffer.from(JSON.stringify(FIXTURE_STATISTICS));

function record(chainId: number, name: string, shortName: string, supported: boolean): ChainRecord {
  return { name, rpc: [], shortName, chainId, supported, monitored: false };
}

let bundle: Promise<WebBundle> | undefined;
/** The built pages, read once. */
function webBundle(): Promise<WebBundle> {
  bundle ??= readWebBundle();
  return bundle;
}

/** A picture of chain 1 only. */
const FIXTURE_ICONS: ChainIcons = {
  has: ({ chainId }) => chainId === 1,
  read: async ({ chainId }) =>
    chainId === 1 ? { bytes: Buffer.from('<svg/>'), type: 'image/svg+xml' } : undefined,
};

/** A registry with these records. */
function registryOf(records: readonly ChainRecord[]): ChainRegistry {
  return {
    chains: records.map((each) => ({
      record: each,
      origins: {},
      endpoints: [],
      testnet: false,
      local: false,
    })),
    findings: [],
    listSource: 'embedded',
    listSha256: 'a'.repeat(64),
  };
}

/** Status of a healthy service. */
export function healthyFacts(): HealthFacts & Required<Pick<HealthFacts, 'documents'>> {
  const now = new Date('2026-02-03T05:00:00Z');
  return {
    now,
    startedAt: new Date('2026-02-03T04:00:00Z'),
    stopping: false,
    documents: { chains: true, statistics: true },
    registry: {
      source: 'embedded',
      sha256: 'a'.repeat(64),
      chains: 4,
      supported: 2,
      monitored: 0,
      findings: { error: 0, warning: 1, info: 2 },
      loadedAt: new Date('2026-02-03T04:00:01Z'),
    },
    statistics: {
      chains: 2,
      full: 3,
      partial: 9,
      lastModified: FIXTURE_MODIFIED,
      confirmedAt: new Date('2026-02-03T04:59:59Z'),
    },
    database: { reachable: true, checkedAt: new Date('2026-02-03T04:59:59Z') },
    queue: { queued: 2, running: 1, oldestQueuedAt: new Date('2026-02-03T04:59:53Z') },
    compilers: { running: 1, waiting: 0, idle: 2, idleBytes: 400_000_000 },
  };
}

/** A repository without contracts. */
const emptyContracts: ContractReader = {
  readContract: async () => undefined,
  readRecordVersion: async () => undefined,
  readRecord: async () => undefined,
  readEvidence: async () => undefined,
  readContractEvents: async () => [],
  readAlternative: async () => undefined,
  listContracts: async () => [],
  listAddresses: async () => ({ addresses: [], total: 0 }),
  findOnChains: async () => [],
  findVerified: async () => new Map(),
  readSourcePage: async () => undefined,
  readWithdrawnMatch: async () => undefined,
  readWithdrawnSourcePage: async () => undefined,
  findCreations: async () => [],
  readFile: async () => undefined,
};

/** Lists without contracts. */
const emptyLists: ContractLists = {
  readFeedPage: async () => undefined,
  listNewest: async () => ({ results: [], next: undefined }),
  searchByAddress: async () => ({ results: [], next: undefined }),
  searchByName: async () => ({ results: [], next: undefined }),
  searchByHash: async () => ({ results: [], next: undefined }),
  findSameCode: async () => undefined,
};

/** An empty signature database. */
const noSignatures: SignatureDatabase = {
  findByHashes: async (_kind, hashes) => new Map(hashes.map((hash) => [hash, []])),
  findEventInputs: async (hashes) => new Map(hashes.map((hash) => [hash, []])),
  readTotals: async () => ({ verified: { function: 0, event: 0, error: 0 }, unverified: 0 }),
  describeCall: async () => [],
  describeEvents: async (entries) => entries.map(() => []),
  searchByPattern: async () => ({ function: new Map(), event: new Map() }),
  import: async () => ({ function: new Set(), event: new Set(), error: new Set() }),
};

/** Statistics that are not available yet, without room for subscribers. */
const noActivity: Activity = {
  readOverview: async () => {
    throw new FullmatchError('database_unreachable', 'no database');
  },
  readHistory: async () => {
    throw new FullmatchError('database_unreachable', 'no database');
  },
  revision: 0,
  events: {
    connect: () => {
      throw new FullmatchError('too_many_clients', 'no client may listen');
    },
  },
};

/** Everybody has access. */
const OPEN_ACCESS = new AccessGate({
  ...{ verify: 'open', tokens: [], verificationsPerHour: 0, clientOf: createClientOf([]) },
});

/** Limits that no ordinary test reaches. */
const FIXTURE_READING: RequestReaderOptions = {
  request: { depth: 64, values: 200_000, sources: 2000, sourceBytes: 10_000_000 },
  bodyBytes: 10_000_000,
  clientOf: createClientOf([]),
  access: OPEN_ACCESS,
};

/** Limits that no ordinary test reaches. */
const FIXTURE_ANSWERS: RecordAnswersOptions = {
  cacheBytes: 2 ** 20,
  readers: 2,
  clientOf: createClientOf([]),
  version: '1.2.3',
};

/** A verification service without chains and jobs. */
const noVerification: Verification = {
  submit: async ({ chainId }) => {
    throw new FullmatchError('unsupported_chain', `no chain ${chainId}`);
  },
  propose: async () => ({ codeBytes: 0, from: 'none' as const }),
  verifyGiven: async () => [],
  knownCodes: { search: async () => undefined, readStored: async () => undefined },
  waitForNews: async () => undefined,
  readJob: async () => undefined,
  endJob: async (id) => {
    throw new FullmatchError('job_not_found', `no job ${id}`);
  },
  waitForJob: async () => undefined,
  waiters: 0,
  queue: undefined,
  onJobEnd: () => undefined,
  close: async () => undefined,
};

/** Parts of the apps, with the fixture's documents published by default. */
export async function fixtureDependencies(
  overrides: Partial<HttpDependencies> & { readonly published?: boolean } = {},
): Promise<HttpDependencies> {
  const { published = true, ...rest } = overrides;
  const documents = rest.documents ?? new Documents(silentLogger, { brotliDelayMs: 0 });
  if (published) {
    await documents.publish({
      chains: { bytes: FIXTURE_CHAINS_BYTES, lastModified: FIXTURE_MODIFIED },
      statistics: { bytes: FIXTURE_STATISTICS_BYTES, lastModified: FIXTURE_MODIFIED },
    });
  }
  return {
    documents,
    registry: () => registryOf(FIXTURE_CHAINS),
    icons: () => FIXTURE_ICONS,
    health: () => composeHealth(healthyFacts()),
    chainHealth: {
      report: (chain) => reportUnprobed(chain, 'not_configured'),
      reports: () => [],
      states: () => new Map(),
    },
    monitors: { report: () => undefined, reports: () => [] },
    compilers: { listUsable: async () => [] },
    proxies: {
      find: async (chainId) => {
        throw new FullmatchError('unsupported_chain', `no chain ${chainId}`);
      },
      newest: () => undefined,
      findings: 0,
    },
    creations: { find: async () => undefined, newest: () => undefined },
    logs: {
      find: async () => ({ logs: [], lastBlock: 0, isComplete: true }),
      newest: () => undefined,
    },
    explorer: {
      canQuery: () => false,
      read: async () => {
        throw new Error('no explorer is queried');
      },
    },
    contracts: emptyContracts,
    answers: new RecordResponder(FIXTURE_ANSWERS),
    contractLists: emptyLists,
    signatures: noSignatures,
    activity: noActivity,
    access: OPEN_ACCESS,
    requests: createRequestReader(FIXTURE_READING),
    verification: noVerification,
    verificationBytes: 10_000_000,
    clientOf: createClientOf([]),
    version: '1.2.3',
    pages: await webBundle(),
    apiPrefixes: ['/server'],
    isMcpEnabled: false,
    urls: () => ({ api: 'http://127.0.0.1:5555', repository: 'http://127.0.0.1:10000' }),
    log: silentLogger,
    ...rest,
  };
}

/** The same, with the number of pages rendered since. */
export function countPages(deps: HttpDependencies): {
  readonly deps: HttpDependencies;
  readonly made: () => number;
} {
  let made = 0;
  const { renderer } = deps.pages;
  const counting: typeof renderer = {
    isLarge: (answers) => renderer.isLarge(answers),
    advance: async (...asked) => {
      const step = await renderer.advance(...asked);
      if ('page' in step) made += 1;
      return step;
    },
    close: () => renderer.close(),
  };
  return { deps: { ...deps, pages: { ...deps.pages, renderer: counting } }, made: () => made };
}
