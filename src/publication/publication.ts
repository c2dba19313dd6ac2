// From stored matches to published data: the current registry, both documents, statistics and events.
import { createHash } from 'node:crypto';
import { type ChainList } from '../chains/list/chain-list.ts';
import { createRegistry, type RegistryOptions } from '../chains/registry/load-registry.ts';
import { recordPublication } from '../chains/registry/publication-time.ts';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import { assertNoSecrets, renderChains } from '../chains/registry/render-chains.ts';
import { type ServiceChain } from '../chains/registry/service-chain.ts';
import { FullmatchError } from '../errors.ts';
import { Closers } from '../lib/closers.ts';
import { createTurns } from '../lib/in-turn.ts';
import { type NamedSecret } from '../lib/secret.ts';
import { type Logger } from '../log.ts';
import {
  MATCHES_CHANNEL,
  type MatchCounts,
  type Statistics,
  followFeed,
  readClaims,
  readStatistics,
  renderStatistics,
  sequenceEvents,
} from '../repository/repository.ts';
import { type Database, SERVING_TIME_LIMIT_MS } from '../store/database.ts';
import { openActivity, type RunningActivity } from './activity.ts';
import { type DocumentContent, Documents, type DocumentsOptions } from './documents.ts';
import { type EventHubOptions } from './event-hub.ts';
import {
  type DatabaseHealth,
  describeRegistry,
  describeStatistics,
  type PublicationFacts,
} from './publication-facts.ts';
import { startPacedLoop } from './paced-loop.ts';

/** Inputs of the chain registry other than the chains that have contracts. Each is replaced as a whole. */
export interface RegistryInputs {
  readonly list: ChainList;
  readonly options: RegistryOptions;
  /** The operator's service configuration. */
  readonly configured: ReadonlyMap<number, ServiceChain>;
  /** Strings that must not appear in the chain document. */
  readonly secrets: readonly NamedSecret[];
  /** Chains whose monitor keeps up; absent without a monitor. */
  readonly watched?: ReadonlySet<number>;
}

/** Options of {@link openPublication}. */
export interface PublicationOptions {
  /** What hosts serve. Without it only the registry is kept: no document is made, and no event is sent. */
  readonly served?: DocumentsOptions & { readonly events: EventHubOptions };
  /** Maximum delay until a change by another process is seen if its notification is lost, in milliseconds (500). */
  readonly pollMs?: number;
  readonly now?: () => Date;
}

const POLL_MS = 500;

/**
 * Publishes the state of database and inputs, and follows both from then on.
 * @throws as {@link Publication.refresh}
 */
export async function openPublication(
  inputs: RegistryInputs,
  database: Database,
  log: Logger,
  options: PublicationOptions = {},
): Promise<Publication> {
  const publication = new Publication(inputs, database, log, options);
  try {
    await publication.open();
    return publication;
  } catch (error) {
    await publication.close();
    throw error;
  }
}

/**
 * What the service publishes: the current registry, both documents, the statistics and the events.
 *
 * Path of a stored match to `stats.json`: its writer notifies after the commit, which {@link
 * Publication.open} receives; the counts are read, the registry is rebuilt if a chain has its first contract,
 * and both documents are swapped together, all in {@link Publication.#publish}.
 */
export class Publication {
  readonly #documents: Documents | undefined;
  readonly #database: Database;
  readonly #serving: Database;
  readonly #log: Logger;
  readonly #options: PublicationOptions;
  readonly #now: () => Date;
  readonly #closers = new Closers();
  #inputs: RegistryInputs;
  #activity: RunningActivity | undefined;
  /** Publications run in sequence. */
  readonly #inTurn = createTurns();
  #registry:
    | {
        readonly value: ChainRegistry;
        readonly chainIds: ReadonlySet<number>;
        readonly madeAt: Date;
      }
    | undefined;
  #statistics: { readonly value: Statistics; readonly confirmedAt: Date } | undefined;
  #reading: DatabaseHealth | undefined;

  /** Use {@link openPublication}. */
  constructor(
    inputs: RegistryInputs,
    database: Database,
    log: Logger,
    options: PublicationOptions,
  ) {
    this.#inputs = inputs;
    this.#database = database;
    this.#serving = database.limited(SERVING_TIME_LIMIT_MS);
    this.#log = log;
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
    this.#documents = options.served && this.#closers.add(new Documents(log, options.served));
  }

  /** Inputs of the published registry. */
  get inputs(): RegistryInputs {
    return this.#inputs;
  }

  /**
   * The current registry.
   * @throws FullmatchError `not_ready` before the first refresh
   */
  get registry(): ChainRegistry {
    if (this.#registry !== undefined) return this.#registry.value;
    throw new FullmatchError(
      'not_ready',
      'The chain registry has not been loaded yet; try again in a second.',
    );
  }

  /** What hosts serve in addition to the registry; undefined if nothing is served. */
  get served(): { readonly documents: Documents; readonly activity: RunningActivity } | undefined {
    const documents = this.#documents;
    const activity = this.#activity;
    return documents && activity && { documents, activity };
  }

  /** Health of the registry, the counts and the database. */
  get facts(): PublicationFacts {
    const { current } = this.#documents ?? {};
    const feedFailingSince = this.#activity?.failingSince;
    return {
      ...(this.#registry && {
        registry: describeRegistry(this.#registry.value, this.#registry.madeAt),
      }),
      ...(this.#statistics && {
        statistics: describeStatistics(this.#statistics.value, this.#statistics.confirmedAt),
      }),
      ...(this.#reading && { database: this.#reading }),
      ...(feedFailingSince && { feedFailingSince }),
      ...(current && {
        documents: {
          chains: current.chains !== undefined,
          statistics: current.statistics !== undefined,
        },
      }),
    };
  }

  /** How many of the counted contracts are claims; undefined if that is not known. */
  async readClaims(): Promise<MatchCounts | undefined> {
    return readClaims(this.#serving).catch(() => undefined);
  }

  /**
   * Publishes for the first time, then after every change of a match, and at an interval in case a
   * notification is lost.
   */
  async open(): Promise<void> {
    await this.refresh();
    const { served, pollMs = POLL_MS } = this.#options;
    if (served !== undefined && this.#documents !== undefined) {
      const parts = {
        ...{ database: this.#database, serving: this.#serving },
        ...{ registry: () => this.registry, documents: this.#documents, log: this.#log },
      };
      this.#activity = this.#closers.add(await openActivity(parts, served.events));
    }
    const refreshAll = async (): Promise<boolean> => {
      try {
        await this.refresh();
      } finally {
        this.#activity?.refresh();
      }
      if (this.#activity !== undefined) return false;
      // Without hosts events have no readers here, but any process may number and count them.
      const isMore = await sequenceEvents(this.#database);
      return (await followFeed(this.#database)).isBehind || isMore;
    };
    const loop = startPacedLoop(refreshAll, { gapMs: 0, what: 'statistics', log: this.#log });
    this.#closers.add(loop);
    const timer = setInterval(loop.trigger, pollMs);
    this.#closers.add({ close: async () => clearInterval(timer) });
    this.#closers.add({ close: await this.#database.listen(MATCHES_CHANNEL, loop.trigger) });
  }

  /**
   * Reads the counts and publishes changes.
   * @throws FullmatchError `secret_in_document`; `database_unreachable` and others of the store
   */
  refresh(): Promise<void> {
    return this.#inTurn(() => this.#publish(this.#inputs));
  }

  /**
   * Rebuilds the registry from new inputs and publishes it. On failure the inputs and both documents stay
   * unchanged.
   * @throws as {@link Publication.refresh}; FullmatchError `invalid_configuration`
   */
  replace(change: Partial<RegistryInputs>): Promise<void> {
    return this.#inTurn(() => this.#publish({ ...this.#inputs, ...change }));
  }

  /** Stops following. Published data stays readable. */
  close(): Promise<void> {
    return this.#closers.close();
  }

  async #publish(inputs: RegistryInputs): Promise<void> {
    const statistics = await this.#readStatistics();
    const chainIds = statistics.chains.map(({ chainId }) => chainId);
    // Most chains have a record before their first contract; only the others need a new registry.
    const registered = inputs === this.#inputs ? this.#registry?.chainIds : undefined;
    const registry =
      registered === undefined || chainIds.some((chainId) => !registered.has(chainId))
        ? makePublishable(inputs, chainIds)
        : undefined;
    await this.#documents?.publish({
      ...(registry && { chains: await this.#renderChains(registry) }),
      statistics: { bytes: renderStatistics(statistics), lastModified: statistics.lastModified },
    });
    this.#inputs = inputs;
    if (registry !== undefined) {
      const registeredIds = registry.chains.map(({ record }) => record.chainId);
      this.#registry = {
        value: registry,
        chainIds: new Set(registeredIds),
        madeAt: this.#now(),
      };
    }
    this.#statistics = { value: statistics, confirmedAt: this.#now() };
  }

  async #readStatistics(): Promise<Statistics> {
    try {
      const statistics = await readStatistics(this.#serving);
      this.#reading = { reachable: true, checkedAt: this.#now() };
      return statistics;
    } catch (error) {
      this.#reading = { reachable: false, checkedAt: this.#now() };
      throw error;
    }
  }

  async #renderChains(registry: ChainRegistry): Promise<DocumentContent> {
    const bytes = renderChains(registry);
    const sha256 = createHash('sha256').update(bytes).digest();
    return { bytes, lastModified: await recordPublication(this.#database, sha256) };
  }
}

/**
 * The registry, checked for publication.
 * @throws FullmatchError `secret_in_document`
 */
export function makePublishable(
  { secrets, ...sources }: RegistryInputs,
  contractChainIds: readonly number[],
): ChainRegistry {
  const registry = createRegistry({ ...sources, contractChainIds });
  assertNoSecrets(registry, secrets);
  return registry;
}
