import { type EventQuestion, followEvents, type ServiceEvent } from './events.ts';
import {
  type ChainSearch,
  type ContractFields,
  type ContractQuestion,
  type HistoryQuestion,
  type PageQuestion,
  type RequestOptions,
} from './questions.ts';
import { createAsk, orUndefined, pathOf, withoutTrailingSlashes } from './request.ts';
import {
  type ChainDetails,
  type ChainHealth,
  type ChainMonitor,
  type ChainPage,
  type ChainRecord,
  type CompilerProposal,
  type Compilers,
  type ContractEvents,
  type ContractFolder,
  type ContractPage,
  type ContractSummary,
  type Evidence,
  type FeedPage,
  type Health,
  type JobState,
  type Manifest,
  type RegistryOverview,
  type SourcesRequest,
  type Statistics,
  type StatisticsHistory,
  type StatisticsOverview,
  type Submitted,
  type V2Contract,
  type V2ContractList,
  type V2MinimalContract,
  type V2Submitted,
  type V2VerifyEtherscanRequest,
  type V2VerifyMetadataRequest,
  type V2VerifySimilarityRequest,
  type V2VerifyRequest,
  type Version,
} from './schemas.ts';

export * from './schemas.ts';
export * from './questions.ts';
export { type EventQuestion, type ServiceEvent } from './events.ts';
export { FullmatchRequestError } from './request.ts';

/** URLs of the service, and how to request them. */
export interface FullmatchClientOptions {
  /** The API host, with its path prefix if it has one: `https://example.org/server`. */
  apiUrl: string;
  /** The repository host: `https://repo.example.org`. */
  repositoryUrl: string;
  /** Replaces the platform's `fetch`. */
  fetch?: typeof fetch;
}

/** Reads the documents of one service, and verifies contracts with it. */
export interface FullmatchClient {
  /** All chains of the service, ascending by chainId. */
  chains(options?: RequestOptions): Promise<ChainRecord[]>;
  /** One chain by `1`, `0x1`, `eip155:1` or a short name such as `eth`; undefined when the service does not know it. */
  chain(reference: string | number, options?: RequestOptions): Promise<ChainRecord | undefined>;
  /** A page of the chains that match a filter. */
  findChains(search?: ChainSearch, options?: RequestOptions): Promise<ChainPage>;
  /** A chain with the origins of its fields and its conflicts; undefined when the service does not know it. */
  chainDetails(
    reference: string | number,
    options?: RequestOptions,
  ): Promise<ChainDetails | undefined>;
  /** Health of a chain's endpoints; undefined when the service does not know the chain. */
  chainHealth(
    reference: string | number,
    options?: RequestOptions,
  ): Promise<ChainHealth | undefined>;
  /** Monitor of a chain; undefined when the service does not know the chain. */
  chainMonitor(
    reference: string | number,
    options?: RequestOptions,
  ): Promise<ChainMonitor | undefined>;
  /** All chains, one line each, with their health and warnings. */
  registry(options?: RequestOptions): Promise<RegistryOverview>;

  /** Counts of verified contracts for every chain that ever had one. */
  statistics(options?: RequestOptions): Promise<Statistics>;
  /** All counts: by chain, by origin, by compiler, and their changes. */
  statisticsOverview(options?: RequestOptions): Promise<StatisticsOverview>;
  /** The counts over time. */
  statisticsHistory(
    question?: HistoryQuestion,
    options?: RequestOptions,
  ): Promise<StatisticsHistory>;
  /**
   * Matches and registry changes as they happen, until its signal or its reader ends it. Reconnects after
   * lost connections.
   */
  events(question?: EventQuestion): AsyncGenerator<ServiceEvent, never>;
  /** All changes of matches, oldest first, a page at a time; `after` is the `next` of an earlier page. */
  feed(page?: Pick<PageQuestion, 'after'>, options?: RequestOptions): Promise<FeedPage>;

  /** Verified contracts, newest first, a page at a time. */
  contracts(question?: ContractQuestion, options?: RequestOptions): Promise<ContractPage>;
  /** Iterates over all verified contracts, newest first. */
  eachContract(
    question?: ContractQuestion,
    options?: RequestOptions,
  ): AsyncGenerator<ContractSummary, void>;
  /**
   * Verified contracts by address (from its first 4 digits on), by name or by bytecode hash. With filters, a
   * page may have few entries and still have a next one.
   */
  searchContracts(
    words: string,
    question?: ContractQuestion,
    options?: RequestOptions,
  ): Promise<ContractPage>;
  /** Other verified contracts with the same runtime bytecode. */
  sameCode(
    chainId: number,
    address: string,
    page?: PageQuestion,
    options?: RequestOptions,
  ): Promise<ContractPage>;
  /** A verified contract, by default only its matches; undefined when it is not verified. */
  contract(
    chainId: number,
    address: string,
    chosen?: ContractFields,
    options?: RequestOptions,
  ): Promise<V2Contract | undefined>;
  /** The chains on which the contract of an address is verified. */
  contractOnAllChains(address: string, options?: RequestOptions): Promise<V2MinimalContract[]>;
  /** Who verified a match, and from what evidence; undefined when the contract is not verified. */
  evidence(
    chainId: number,
    address: string,
    options?: RequestOptions,
  ): Promise<Evidence | undefined>;
  /** History of a contract's match, newest first; empty if it never had one. */
  contractEvents(
    chainId: number,
    address: string,
    options?: RequestOptions,
  ): Promise<ContractEvents['results']>;
  /** The files of a contract in the published tree; undefined when it has no such match. */
  contractFolder(
    match: 'full' | 'partial',
    chainId: number,
    address: string,
    options?: RequestOptions,
  ): Promise<ContractFolder | undefined>;

  /** The compilers of the service. */
  compilers(options?: RequestOptions): Promise<Compilers>;
  /** Verifies a contract by the standard JSON input of its compiler. */
  verify(
    chainId: number,
    address: string,
    compilation: V2VerifyRequest,
    options?: RequestOptions,
  ): Promise<V2Submitted>;
  /** Verifies a contract by its metadata.json and its sources. */
  verifyMetadata(
    chainId: number,
    address: string,
    compilation: V2VerifyMetadataRequest,
    options?: RequestOptions,
  ): Promise<V2Submitted>;
  /** Verifies a contract by sources that the service stores, such as those of the factory that created it. */
  verifySimilar(
    chainId: number,
    address: string,
    deployment?: V2VerifySimilarityRequest,
    options?: RequestOptions,
  ): Promise<V2Submitted>;
  /** Verifies a contract by the sources of another explorer, which the service's operator configured. */
  verifyFromExplorer(
    chainId: number,
    address: string,
    asked?: V2VerifyEtherscanRequest,
    options?: RequestOptions,
  ): Promise<V2Submitted>;
  /** Verifies a contract by plain sources; the service builds the standard JSON input. */
  verifySources(
    chainId: number,
    address: string,
    sources: SourcesRequest,
    options?: RequestOptions,
  ): Promise<Submitted>;
  /** The compiler that the bytecode on chain names. */
  proposeCompiler(
    chainId: number,
    address: string,
    options?: RequestOptions,
  ): Promise<CompilerProposal>;
  /** State of a verification; undefined when there is no such job. */
  job(verificationId: string, options?: RequestOptions): Promise<JobState | undefined>;
  /** Cancels a verification that was submitted from this address, and returns its state; may take seconds. */
  cancelJob(verificationId: string, options?: RequestOptions): Promise<JobState>;

  /** Health report of the service. */
  health(options?: RequestOptions): Promise<Health>;
  /** The running version. */
  version(options?: RequestOptions): Promise<Version>;
  /** State of the published tree. */
  manifest(options?: RequestOptions): Promise<Manifest>;
}

/**
 * Creates a client for one service. It is stateless: every call is one request, except for iterations. Calls
 * throw {@link FullmatchRequestError} for an unexpected status or a response without JSON, and the error of
 * `fetch` when there is no response.
 */
export function createFullmatchClient(options: FullmatchClientOptions): FullmatchClient {
  const request = options.fetch ?? globalThis.fetch;
  const apiUrl = withoutTrailingSlashes(options.apiUrl);
  const repositoryUrl = withoutTrailingSlashes(options.repositoryUrl);
  const { get, post } = createAsk(request);
  const api = (parts: readonly (string | number)[], parameters?: object): string =>
    apiUrl + pathOf(parts, parameters);
  const repository = (...parts: readonly (string | number)[]): string =>
    repositoryUrl + pathOf(parts);
  const readContracts = (question?: object, call?: RequestOptions): Promise<ContractPage> =>
    get(api(['v1', 'contracts'], question), call);

  return {
    chains: (call) => get(api(['chains']), call),
    chain: (reference, call) =>
      orUndefined(get(api(['chains', reference]), call), 'chain_not_found'),
    findChains: ({ fields, ...search } = {}, call) =>
      get(api(['v1', 'chains'], { ...search, fields: fields?.join() }), call),
    chainDetails: (reference, call) =>
      orUndefined(get(api(['v1', 'chains', reference]), call), 'chain_not_found'),
    chainHealth: (reference, call) =>
      orUndefined(get(api(['v1', 'chains', reference, 'health']), call), 'chain_not_found'),
    chainMonitor: (reference, call) =>
      orUndefined(get(api(['v1', 'chains', reference, 'monitor']), call), 'chain_not_found'),
    registry: (call) => get(api(['v1', 'registry']), call),

    statistics: (call) => get(repository('stats.json'), call),
    statisticsOverview: (call) => get(api(['v1', 'statistics']), call),
    statisticsHistory: ({ chains, ...rest } = {}, call) =>
      get(api(['v1', 'statistics', 'history'], { ...rest, chain: chains }), call),
    events: (question = {}) => followEvents(request, api(['v1', 'events']), question),
    feed: (page, call) => get(api(['v1', 'feed'], page), call),

    contracts: readContracts,
    async *eachContract(question = {}, call) {
      let after: string | null | undefined = question.after;
      while (after !== null) {
        const page = await readContracts({ ...question, after }, call);
        yield* page.results;
        after = page.next;
      }
    },
    searchContracts: (words, question, call) =>
      get(api(['v1', 'contracts', 'search'], { q: words, ...question }), call),
    sameCode: (chainId, address, page, call) =>
      get(api(['v1', 'contracts', chainId, address, 'same-code'], page), call),
    contract: async (chainId, address, { fields, omit } = {}, call) => {
      const chosen = { fields: fields?.join(), omit: omit?.join() };
      const url = api(['v2', 'contract', chainId, address], chosen);
      const contract = await get<V2Contract>(url, call, 'match');
      return contract.match === null ? undefined : contract;
    },
    contractOnAllChains: async (address, call) => {
      const url = api(['v2', 'contract', 'all-chains', address]);
      return (await get<V2ContractList>(url, call, 'results')).results;
    },
    evidence: (chainId, address, call) =>
      orUndefined(get(api(['v1', 'contracts', chainId, address]), call), 'contract_not_found'),
    contractEvents: async (chainId, address, call) => {
      const url = api(['v1', 'contracts', chainId, address, 'events']);
      return (await get<ContractEvents>(url, call)).results;
    },
    contractFolder: (match, chainId, address, call) =>
      orUndefined(
        get(repository('contracts', `${match}_match`, chainId, address), call),
        'contract_not_found',
      ),

    compilers: (call) => get(api(['v1', 'compilers']), call),
    verify: (chainId, address, compilation, call) =>
      post(api(['v2', 'verify', chainId, address]), compilation, call),
    verifyMetadata: (chainId, address, compilation, call) =>
      post(api(['v2', 'verify', 'metadata', chainId, address]), compilation, call),
    verifySimilar: (chainId, address, deployment = {}, call) =>
      post(api(['v2', 'verify', 'similarity', chainId, address]), deployment, call),
    verifyFromExplorer: (chainId, address, asked = {}, call) =>
      post(api(['v2', 'verify', 'etherscan', chainId, address]), asked, call),
    verifySources: (chainId, address, sources, call) =>
      post(api(['v1', 'verify', 'sources', chainId, address]), sources, call),
    proposeCompiler: (chainId, address, call) =>
      get(api(['v1', 'verify', 'proposal', chainId, address]), call),
    job: (verificationId, call) =>
      orUndefined(get(api(['v1', 'jobs', verificationId]), call), 'job_not_found'),
    cancelJob: (verificationId, call) =>
      post(api(['v1', 'jobs', verificationId, 'cancel']), {}, call),

    health: (call) => get(api(['health']), call),
    version: (call) => get(api(['version']), call),
    manifest: (call) => get(repository('manifest.json'), call),
  };
}
