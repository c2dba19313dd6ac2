import {
  ContractStage,
  type PackedContract,
  type PackedContracts,
} from '../repository/repository.ts';
import { type Database } from '../store/database.ts';
import { type BatchOutcome, saveBatch } from './save-batch.ts';

/** Limits of a transaction; they bound memory and the time that other writers wait for its rows. */
export interface BatchBounds {
  readonly contracts: number;
  readonly bytes: number;
}

/** Batches in flight: one is staged while another is stored. */
const STAGES = 2;

/** Result of a committed batch. */
type OnStored = (contracts: readonly PackedContract[], outcomes: readonly BatchOutcome[]) => void;

/** Stores packed contracts in batches, one transaction each, in order of arrival. */
export class ContractStore {
  readonly #stages: readonly ContractStage[];
  readonly #bounds: BatchBounds;
  readonly #onStored: OnStored;
  readonly #requireSpace: (() => Promise<void>) | undefined;
  readonly #isRehearsal: boolean;
  #packs: PackedContracts[] = [];
  #contracts = 0;
  #bytes = 0;
  #batches = 0;
  /** Batches in flight, oldest first. */
  #underWay: Promise<void>[] = [];
  #isStopped: () => boolean;

  private constructor(stages: readonly ContractStage[], options: StoreOptions) {
    this.#stages = stages;
    this.#bounds = options.bounds;
    this.#onStored = options.onStored;
    this.#requireSpace = options.requireSpace;
    this.#isRehearsal = options.isRehearsal;
    this.#isStopped = options.isStopped;
  }

  /** Runs `work` with a store on its own connections. Added contracts are stored when `work` succeeds. */
  static async open(
    database: Database,
    options: StoreOptions,
    work: (store: ContractStore) => Promise<void>,
  ): Promise<void> {
    const open = async (stages: readonly ContractStage[]): Promise<void> => {
      if (stages.length < STAGES) {
        return database.session(async (session) =>
          open([...stages, await ContractStage.open(session)]),
        );
      }
      const store = new ContractStore(stages, options);
      try {
        await work(store);
        store.#saveNext();
      } finally {
        await store.#settle();
      }
    };
    await open([]);
  }

  /**
   * Adds contracts; waits while too many batches are in flight.
   * @throws the error of an earlier batch
   */
  async add(pack: PackedContracts): Promise<void> {
    if (pack.contracts.length > 0) this.#packs.push(pack);
    this.#contracts += pack.contracts.length;
    this.#bytes += pack.bytes.length;
    const { contracts, bytes } = this.#bounds;
    if (this.#contracts < contracts && this.#bytes < bytes) return;
    this.#saveNext();
    while (this.#underWay.length >= STAGES) await this.#underWay.shift();
  }

  #saveNext(): void {
    const packs = this.#packs;
    if (packs.length === 0) return;
    this.#packs = [];
    this.#contracts = 0;
    this.#bytes = 0;
    const stage = this.#stages[this.#batches % STAGES];
    const before = this.#underWay.at(-1);
    this.#batches += 1;
    if (stage === undefined) return;
    const stored = this.#store(stage, packs, before);
    // The rejection is handled when the batch is awaited; until then it must not count as unhandled.
    stored.catch(() => undefined);
    this.#underWay.push(stored);
  }

  async #store(
    stage: ContractStage,
    packs: readonly PackedContracts[],
    before: Promise<void> | undefined,
  ): Promise<void> {
    const contracts = packs.flatMap((pack) => pack.contracts);
    await this.#requireSpace?.();
    await stage.fill(packs);
    await before;
    if (this.#isStopped()) return;
    const outcomes = await saveBatch(contracts, (some) => stage.save(some, this.#isRehearsal));
    this.#onStored(contracts, outcomes);
  }

  async #settle(): Promise<void> {
    const ends = await Promise.allSettled(this.#underWay);
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}

interface StoreOptions {
  readonly bounds: BatchBounds;
  readonly onStored: OnStored;
  /** Whether storing further batches is refused. */
  readonly isStopped: () => boolean;
  readonly requireSpace?: () => Promise<void>;
  /** Whether each batch is rolled back. */
  readonly isRehearsal: boolean;
}
