import { createHash } from 'node:crypto';
import { type ChainList } from '../chains/list/chain-list.ts';
import { makeRegistry, type RegistryOptions } from '../chains/registry/load-registry.ts';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import { assertNoSecrets, renderChains } from '../chains/registry/render-chains.ts';
import { type ServiceChain } from '../chains/registry/service-chain.ts';
import { FullmatchError } from '../errors.ts';
import { type NamedSecret } from '../lib/secret.ts';
import { renderStatistics, type Statistics } from '../repository/statistics/statistics.ts';
import { type Documents } from './documents.ts';
import {
  type DatabaseHealth,
  type RegistryHealth,
  type StatisticsHealth,
} from '../http/health-facts.ts';

/** What the chain registry is made of, beside the chains that have contracts. Each part is replaced whole. */
export interface RegistryInputs {
  readonly list: ChainList;
  readonly options: RegistryOptions;
  /** The operator's service configuration. */
  readonly configured: ReadonlyMap<number, ServiceChain>;
  /** What must not stand in the chain document. */
  readonly secrets: readonly NamedSecret[];
}

/** Where a {@link Publisher} takes its facts from. */
export interface PublisherSources {
  /** The counts as the database has them now, from one snapshot. */
  readonly readStatistics: () => Promise<Statistics>;
  /** When a rendering of the chain document, told by its SHA-256, first appeared on any replica. */
  readonly publishedAt: (sha256: Uint8Array) => Promise<Date>;
}

/**
 * Keeps both documents true: reads the counts, makes the registry anew when a chain without a record got its
 * first contract, and publishes both together.
 */
export class Publisher {
  readonly #sources: PublisherSources;
  readonly #documents: Documents;
  #inputs: RegistryInputs;
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
  #database: DatabaseHealth | undefined;

  constructor(inputs: RegistryInputs, sources: PublisherSources, documents: Documents) {
    this.#inputs = inputs;
    this.#sources = sources;
    this.#documents = documents;
  }

  /** What the published registry is made of. */
  get inputs(): RegistryInputs {
    return this.#inputs;
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
   * @throws as {@link Publisher.refresh}; FullmatchError `invalid_configuration`
   */
  replace(change: Partial<RegistryInputs>): Promise<void> {
    return this.#inTurn(() => this.#publish({ ...this.#inputs, ...change }));
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
    const chains =
      registered === undefined || chainIds.some((chainId) => !registered.has(chainId))
        ? await this.#renderRegistry(inputs, chainIds)
        : undefined;
    await this.#documents.publish({
      ...(chains && { chains: chains.content }),
      statistics: {
        bytes: renderStatistics(statistics),
        lastModified: statistics.lastModified,
      },
    });
    this.#inputs = inputs;
    if (chains !== undefined) {
      const registeredIds = chains.registry.chains.map(({ record }) => record.chainId);
      this.#registry = {
        value: chains.registry,
        chainIds: new Set(registeredIds),
        madeAt: new Date(),
      };
    }
    this.#statistics = { value: statistics, confirmedAt: new Date() };
  }

  /** The registry whose rendering is published. @throws FullmatchError `not_ready` before the first refresh */
  get registry(): ChainRegistry {
    if (this.#registry !== undefined) return this.#registry.value;
    throw new FullmatchError(
      'not_ready',
      'The chain registry is not read yet; ask again in a second.',
    );
  }

  /** The counts that are published; undefined before the first refresh. */
  get statistics(): Statistics | undefined {
    return this.#statistics?.value;
  }

  /** What the health report says of the registry, the statistics and the database. */
  get facts(): {
    registry?: RegistryHealth;
    statistics?: StatisticsHealth;
    database?: DatabaseHealth;
  } {
    return {
      ...(this.#registry && {
        registry: describeRegistry(this.#registry.value, this.#registry.madeAt),
      }),
      ...(this.#statistics && {
        statistics: describeStatistics(this.#statistics.value, this.#statistics.confirmedAt),
      }),
      ...(this.#database && { database: this.#database }),
    };
  }

  async #readStatistics(): Promise<Statistics> {
    try {
      const statistics = await this.#sources.readStatistics();
      this.#database = { reachable: true, checkedAt: new Date() };
      return statistics;
    } catch (error) {
      this.#database = { reachable: false, checkedAt: new Date() };
      throw error;
    }
  }

  async #renderRegistry(
    { list, options, configured, secrets }: RegistryInputs,
    chainIds: readonly number[],
  ): Promise<{
    registry: ChainRegistry;
    content: { bytes: Buffer; lastModified: Date };
  }> {
    const registry = makeRegistry(list, options, configured, chainIds);
    assertNoSecrets(registry, secrets);
    const bytes = renderChains(registry);
    const sha256 = createHash('sha256').update(bytes).digest();
    const lastModified = await this.#sources.publishedAt(sha256);
    return { registry, content: { bytes, lastModified } };
  }
}

function describeRegistry(registry: ChainRegistry, loadedAt: Date): RegistryHealth {
  const findings = { error: 0, warning: 0, info: 0 };
  for (const { level } of registry.findings) findings[level] += 1;
  return {
    source: registry.listSource,
    sha256: registry.listSha256,
    chains: registry.chains.length,
    supported: registry.chains.filter(({ record }) => record.supported).length,
    monitored: registry.chains.filter(({ record }) => record.monitored).length,
    findings,
    loadedAt,
  };
}

function describeStatistics(statistics: Statistics, confirmedAt: Date): StatisticsHealth {
  const sum = (values: readonly number[]): number =>
    values.reduce((total, each) => total + each, 0);
  return {
    chains: statistics.chains.length,
    full: sum(statistics.chains.map(({ full }) => full)),
    partial: sum(statistics.chains.map(({ partial }) => partial)),
    lastModified: statistics.lastModified,
    confirmedAt,
  };
}
