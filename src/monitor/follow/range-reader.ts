import { randomUUID } from 'node:crypto';
import { messageOf } from '../../errors.ts';
import { type Logger } from '../../log.ts';
import { type BlockCreations } from '../seen-creation.ts';
import { type ChainReader } from './chain-reader.ts';
import { describeFault, FollowFault } from './follow-fault.ts';
import { type FollowParts, type FollowSettings } from './follow-options.ts';
import {
  handBackRange,
  type LeasedRange,
  leaseRange,
  putOffRange,
  renewRange,
  storeRange,
} from './ranges.ts';
import { requireHeader } from './read-block.ts';
import { Waker } from './waker.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 300_000;
/** After a failed lease: the database is away. */
const RETRY_MS = 1_000;

/** Thrown where another process has the range now. */
class RangeLost extends Error {
  override readonly name = 'RangeLost';
}

/** Reads ranges of one chain that are due, whichever process handed them out. */
export class RangeReader {
  readonly #chainId: number;
  readonly #parts: FollowParts;
  readonly #settings: FollowSettings;
  readonly #reader: ChainReader;
  readonly #onFollowed: () => void;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #waker = new Waker();
  readonly #running = new Set<Promise<void>>();

  /** @param onFollowed told after a range of `follow` was stored, so that it is joined to the cursor */
  constructor(
    chainId: number,
    parts: FollowParts,
    settings: FollowSettings,
    reader: ChainReader,
    onFollowed: () => void,
    log: Logger,
    signal: AbortSignal,
  ) {
    this.#chainId = chainId;
    this.#parts = parts;
    this.#settings = settings;
    this.#reader = reader;
    this.#onFollowed = onFollowed;
    this.#log = log;
    this.#signal = signal;
  }

  wake(): void {
    this.#waker.wake();
  }

  /** Reads until the signal; then ranges at work are handed back. Never rejects. */
  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      const range = await this.#lease();
      if (range === undefined || range === 'failed') {
        await this.#waker.wait(
          range === 'failed' ? RETRY_MS : this.#settings.rangePollMs,
          this.#signal,
        );
        continue;
      }
      const work = this.#read(range).finally(() => this.#running.delete(work));
      this.#running.add(work);
      if (this.#running.size >= this.#settings.rangesAtOnce) await Promise.race(this.#running);
    }
    await Promise.all(this.#running);
  }

  async #lease(): Promise<LeasedRange | 'failed' | undefined> {
    try {
      return await leaseRange(this.#parts.database, this.#chainId, randomUUID(), this.#settings);
    } catch (error) {
      this.#log.debug({ error: messageOf(error) }, 'no range of blocks can be taken');
      return 'failed';
    }
  }

  /** Reads and stores one range, or puts it off. Never rejects. */
  async #read(range: LeasedRange): Promise<void> {
    const { database } = this.#parts;
    try {
      const { blocks, isFinal } = await this.#readBlocks(range);
      const stored = await storeRange(database, range, blocks, isFinal);
      if (stored === undefined) return;
      const { added, dropped } = stored;
      if (added > 0) this.#parts.onCreations?.(this.#chainId);
      if (dropped.length > 0) this.#parts.onRolledBack?.(this.#chainId, dropped);
      if (range.kind === 'follow') this.#onFollowed();
    } catch (error) {
      if (error instanceof RangeLost) return;
      await this.#giveUp(range, error);
    }
  }

  async #giveUp(range: LeasedRange, error: unknown): Promise<void> {
    const { database } = this.#parts;
    try {
      if (this.#signal.aborted) {
        await handBackRange(database, range);
        return;
      }
      const fault = describeFault(error);
      const wait = Math.min(FIRST_WAIT_MS * 2 ** Math.min(range.attempts - 1, 20), LONGEST_WAIT_MS);
      const { first, last } = range;
      const facts = { event: 'range_failed', chain_id: this.#chainId, first, last };
      this.#log.debug({ ...facts, error: messageOf(error) }, 'a range of blocks is put off');
      await putOffRange(database, range, fault, wait);
    } catch (failure) {
      // Its lease ends by itself.
      this.#log.debug({ error: messageOf(failure) }, 'a range of blocks could not be put off');
    }
  }

  async #readBlocks(
    range: LeasedRange,
  ): Promise<{ readonly blocks: readonly BlockCreations[]; readonly isFinal: boolean }> {
    const { leaseMs, batchBlocks } = this.#settings;
    const blocks: BlockCreations[] = [];
    let renewedAt = performance.now();
    // The leader hands out final blocks only.
    const isFinal = range.kind === 'follow' || (await this.#isFinal(range));
    for (let next = range.first; next <= range.last; next = (blocks.at(-1)?.number ?? next) + 1) {
      const last = Math.min(range.last, next + batchBlocks - 1);
      const read = await this.#reader.withEndpoint(async (question) => {
        const batch = await this.#reader.readBlocks(question, next, last);
        const [first] = batch;
        if (first === undefined) {
          const message = `No endpoint of another operator has block ${last}.`;
          throw new FollowFault('not_confirmed', message);
        }
        return { batch, parentHash: first.parentHash };
      });
      const before = blocks.at(-1);
      if (before !== undefined && before.hash !== read.parentHash) {
        const message = `Block ${next} does not follow the block before it.`;
        throw new FollowFault('blocks_replaced', message);
      }
      blocks.push(...read.batch);
      if (performance.now() - renewedAt < leaseMs / 3) continue;
      renewedAt = performance.now();
      if (!(await renewRange(this.#parts.database, range, leaseMs))) throw new RangeLost();
    }
    return { blocks, isFinal };
  }

  async #isFinal({ last }: LeasedRange): Promise<boolean> {
    return this.#reader.withEndpoint(async (question) => {
      const latest = await requireHeader(question, 'latest');
      const { finalized } = await this.#reader.readHead(question, latest);
      // Whoever replaces blocks of a chain of his own starts it anew, and then all of it is read once more.
      return last <= (question.chain.local ? latest.number : finalized);
    });
  }
}
