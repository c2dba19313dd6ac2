// From stored matches to what is published: the registry in force, both documents, statistics and events.
import { createHash } from 'node:crypto';
import { type ChainList } from '../chains/list/chain-list.ts';
import { makeRegistry, type RegistryOptions } from '../chains/registry/load-registry.ts';
import { recordPublication } from '../chains/registry/publication-time.ts';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import { assertNoSecrets, renderChains } from '../chains/registry/render-chains.ts';
import { type ServiceChain } from '../chains/registry/service-chain.ts';
import { FullmatchError } from '../errors.ts';
import { Closers } from '../lib/closers.ts';
import { type NamedSecret } from '../lib/secret.ts';
import { type Logger } from '../log.ts';
import {
  MATCHES_CHANNEL,
  type Statistics,
  createStatisticsReader,
  readStatistics,
  renderStatistics,
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

/** What the chain registry is made of, beside the chains that have contracts. Each part is replaced whole. */
export interface RegistryInputs {
  readonly list: ChainList;
  readonly options: RegistryOptions;
  /** The operator's service configuration. */
  readonly configured: ReadonlyMap<number, ServiceChain>;
  /** What must not stand in the chain document. */
  readonly secrets: readonly NamedSecret[];
  /** The chains that a monitor keeps up with; absent where nobody looks. */
  readonly watched?: ReadonlySet<number>;
}

/** What {@link openPublication} may be told. */
export interface PublicationOptions {
  /** What hosts serve. Without it only the registry is kept: no document is made, and no event is sent. */
  readonly served?: DocumentsOptions & { readonly events: EventHubOptions };
  /** How long a change of another process may stay unseen when its notification is lost, in milliseconds (500). */
  readonly pollMs?: number;
  readonly now?: () => Date;
}

const POLL_MS = 500;

/** Publishes what the database and the inputs say now, and follows both from then on. @throws as {@link Publication.refresh} */
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
 * What the service publishes: the registry in force, both documents, the statistics and the events.
 *
 * The way of a stored match to `stats.json`: its writer notifies after the commit, which {@link Publication.open} hears;
 * the counts are read, the registry is made anew where a chain has its first contract, and both documents are swapped
 * together, all in {@link Publication.#publish}.
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
  /** The end of the publication at work: they run one after another. */
  #last: Promise<unknown> = Promise.resolve();
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

  /** What the published registry is made of. */
  get inputs(): RegistryInputs {
    return this.#inputs;
  }

  /** The registry in force. @throws FullmatchError `not_ready` before the first refresh */
  get registry(): ChainRegistry {
    if (this.#registry !== undefined) return this.#registry.value;
    throw new FullmatchError(
      'not_ready',
      'The chain registry has not been loaded yet; try again in a second.',
    );
  }

  /** What hosts serve, beside the registry; undefined where nothing is served. */
  get served(): { readonly documents: Documents; readonly activity: RunningActivity } | undefined {
    const documents = this.#documents;
    const activity = this.#activity;
    return documents && activity && { documents, activity };
  }

  /** What the health report says of the registry, the counts and the database. */
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

  /** Publishes for the first time, then after every change of a match, and at an interval for what is lost in between. */
  async open(): Promise<void> {
    await this.refresh();
    const { served, pollMs = POLL_MS } = this.#options;
    const reader = createStatisticsReader(this.#database, this.#serving);
    if (served !== undefined && this.#documents !== undefined) {
      const parts = { registry: () => this.registry, documents: this.#documents, log: this.#log };
      this.#activity = this.#closers.add(await openActivity({ reader, ...parts }, served.events));
    }
    const refreshAll = async (): Promise<boolean> => {
      try {
        await this.refresh();
      } finally {
        this.#activity?.refresh();
      }
      if (this.#activity !== undefined) return false;
      // Without hosts nobody reads events here, but any process numbers and counts them.
      const isMore = await reader.sequenceEvents();
      return (await reader.followFeed()).isBehind || isMore;
    };
    const loop = startPacedLoop(refreshAll, { gapMs: 0, what: 'statistics', log: this.#log });
    this.#closers.add(loop);
    const timer = setInterval(loop.trigger, pollMs);
    this.#closers.add({ close: async () => clearInterval(timer) });
    this.#closers.add({ close: await this.#database.listen(MATCHES_CHANNEL, loop.trigger) });
  }

  /**
   * Reads the counts and publishes what changed.
   * @throws FullmatchError `secret_in_document`; `database_unreachable` and others of the store
   */
  refresh(): Promise<void> {
    return this.#inTurn(() => this.#publish(this.#inputs));
  }

  /**
   * Makes the registry of other inputs and publishes it. What goes wrong leaves the inputs and both documents as they were.
   * @throws as {@link Publication.refresh}; FullmatchError `invalid_configuration`
   */
  replace(change: Partial<RegistryInputs>): Promise<void> {
    return this.#inTurn(() => this.#publish({ ...this.#inputs, ...change }));
  }

  /** Follows no more. What is published stays readable. */
  close(): Promise<void> {
    return this.#closers.close();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #publish(inputs: RegistryInputs): Promise<void> {
    const statistics = await this.#readStatistics();
    const chainIds = statistics.chains.map(({ chainId }) => chainId);
    // Most chains have their record before their first contract; only others need another registry.
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

/** The registry that may be published. @throws FullmatchError `secret_in_document` */
export function makePublishable(
  { list, options, configured, secrets, watched }: RegistryInputs,
  chainIds: readonly number[],
): ChainRegistry {
  const registry = makeRegistry(list, options, configured, chainIds, watched);
  assertNoSecrets(registry, secrets);
  return registry;
}
