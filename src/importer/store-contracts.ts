import {
  ContractStage,
  type PackedContract,
  type PackedContracts,
} from '../repository/repository.ts';
import { type Database } from '../store/database.ts';
import { type BatchOutcome, saveBatch } from './save-batch.ts';

/** What a transaction holds at most: with it the memory and the time that others wait for its rows are bounded. */
export interface BatchBounds {
  readonly contracts: number;
  readonly bytes: number;
}

/** Batches that may be on their way: while one is stored, the next is staged. */
const STAGES = 2;

/** What is told of a batch when it is committed. */
type OnStored = (contracts: readonly PackedContract[], outcomes: readonly BatchOutcome[]) => void;

/** Stores packed contracts in batches, one transaction each, in the order in which they come. */
export class ContractStore {
  readonly #stages: readonly ContractStage[];
  readonly #bounds: BatchBounds;
  readonly #onStored: OnStored;
  readonly #requireSpace: (() => Promise<void>) | undefined;
  #packs: PackedContracts[] = [];
  #contracts = 0;
  #bytes = 0;
  #batches = 0;
  /** The end of each batch that is on its way, oldest first. */
  #underWay: Promise<void>[] = [];
  #isStopped: () => boolean;

  private constructor(stages: readonly ContractStage[], options: StoreOptions) {
    this.#stages = stages;
    this.#bounds = options.bounds;
    this.#onStored = options.onStored;
    this.#requireSpace = options.requireSpace;
    this.#isStopped = options.isStopped;
  }

  /** Works with a store on connections of its own. What was added is stored when the work ends well. */
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

  /** Adds contracts; waits where too many batches are on their way. @throws what storing an earlier batch met */
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
    // The failure is met by whoever waits for it; until then it is not an unhandled one.
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
    const outcomes = await saveBatch(contracts, (some) => stage.save(some));
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
  /** Whether no further batch is to be stored. */
  readonly isStopped: () => boolean;
  readonly requireSpace?: () => Promise<void>;
}
