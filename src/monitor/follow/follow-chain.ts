import { randomUUID } from 'node:crypto';
import { updatePace, type Pace, medianBlockSeconds } from '../../chains/health/block-pace.ts';
import { isOwnNode } from '../../chains/rpc/rpc-chain.ts';
import { messageOf } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { Waker } from '../../lib/repeat.ts';
import { type Logger } from '../../log.ts';
import { type MonitoredChain } from '../found-creation.ts';
import {
  addBackfill,
  advanceBackfill,
  type Backfill,
  nextBackfill,
  postponeBackfill,
} from './backfills.ts';
import { type ChainHead, type ChainReader } from './chain-reader.ts';
import {
  addCursor,
  advanceCursor,
  type Cursor,
  CursorLost,
  hasCursor,
  leaseCursor,
  listHashes,
  moveStart,
  recordFault,
  recordHead,
  releaseCursor,
} from './cursor.ts';
import { describeFault, FollowFault } from './follow-fault.ts';
import { type FollowDependencies, type FollowSettings } from './follow-options.ts';
import { type BlockSource, readHeader, requireHeader } from './read-block.ts';
import { findFork, type Fork, rollBack } from './roll-back.ts';

const LEAST_POLL_MS = 250;
const LONGEST_POLL_MS = 15_000;
/** Poll interval until the block time of the chain is known. */
const FIRST_POLL_MS = 2_000;
/**
 * Consecutive faults after which the lease is released, so that another process, perhaps with a better
 * network, can try.
 */
const FAULTS_PER_LEASE = 5;
/** How often the head of an advancing endpoint is compared with another. */
const COMPARE_MS = 60_000;
/** Blocks by which an endpoint may lag behind another without consequence. */
const USUAL_LAG = 3;

/** Wait after the first failure of a backfill; it doubles with each further failure. */
const FIRST_BACKFILL_WAIT_MS = 500;
const LONGEST_BACKFILL_WAIT_MS = 300_000;

/**
 * Result of a step: the cursor moved and is still far from its target, it is near the target, or there was
 * nothing to do.
 */
type Step = 'moved' | 'near' | 'idle';

/** Follows one chain while no other process does: first its newest blocks, then its backfills. */
export class ChainFollower {
  readonly #chainId: number;
  readonly #parts: FollowDependencies;
  readonly #settings: FollowSettings;
  readonly #reader: ChainReader;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #token = randomUUID();
  readonly #waker = new Waker();
  /** As this process knows it; reloaded after a third of the lease. */
  #cursor: Cursor | undefined;
  #leasedAt = 0;
  /** Newest final block according to the endpoint that was read last. */
  #finalized = -1;
  /** When the last check found no backfill due. */
  #noBackfillAt = -Infinity;
  #pace: Pace = [];
  #paceHead: { readonly number: number; readonly timestamp: number } | undefined;
  #pollMs = FIRST_POLL_MS;
  #failures = 0;
  #shownFault: string | undefined;
  #notedAt = -Infinity;
  #notedHead = -1;
  #lastHead: { readonly number: number; readonly since: number } | undefined;
  #comparedAt = performance.now();
  #unconfirmedSince: number | undefined;

  constructor(
    chainId: number,
    parts: FollowDependencies,
    settings: FollowSettings,
    reader: ChainReader,
    log: Logger,
    signal: AbortSignal,
  ) {
    this.#chainId = chainId;
    this.#parts = parts;
    this.#settings = settings;
    this.#reader = reader;
    this.#log = log;
    this.#signal = signal;
  }

  wake(): void {
    this.#noBackfillAt = -Infinity;
    this.#waker.wake();
  }

  /** Follows the chain until the signal aborts, then releases it for other processes. Never rejects. */
  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      const waitMs = await this.#turn();
      if (waitMs > 0) await this.#waker.pause(waitMs, this.#signal);
    }
    await this.#release();
  }

  /**
   * Takes one step, or checks once whether the chain is free.
   * @returns how long to wait.
   */
  async #turn(): Promise<number> {
    const config = this.#parts.monitored().get(this.#chainId);
    if (config === undefined) return LONGEST_POLL_MS;
    try {
      const cursor = await this.#hold();
      if (cursor === undefined && (await hasCursor(this.#parts.database, this.#chainId))) {
        return this.#settings.leaseMs / 6;
      }
      const step =
        cursor === undefined ? await this.#begin(config) : await this.#follow(cursor, config);
      this.#succeeded(step);
      if (step === 'moved' || this.#cursor === undefined) return 0;
      const isBackfilling = await this.#backfill(this.#cursor);
      return isBackfilling || step === 'near' ? 0 : this.#pollMs;
    } catch (error) {
      this.#cursor = undefined;
      if (this.#signal.aborted) return 0;
      if (error instanceof CursorLost) return LEAST_POLL_MS;
      return this.#failed(error);
    }
  }

  /** Returns the cursor if this process has the lease of the chain or can acquire it. */
  async #hold(): Promise<Cursor | undefined> {
    const now = performance.now();
    const { leaseMs } = this.#settings;
    if (this.#cursor !== undefined && now - this.#leasedAt < leaseMs / 3) return this.#cursor;
    this.#cursor = await leaseCursor(this.#parts.database, this.#chainId, this.#token, leaseMs);
    this.#leasedAt = now;
    return this.#cursor;
  }

  /** Creates the cursor of the chain. */
  async #begin({ from }: MonitoredChain): Promise<Step> {
    const { database } = this.#parts;
    if (from !== 'head') {
      await addCursor(database, this.#chainId, from);
      return 'moved';
    }
    const head = await this.#reader.withEndpoint((question) => requireHeader(question, 'latest'));
    await addCursor(database, this.#chainId, head.number + 1, head.hash);
    return 'moved';
  }

  async #follow(cursor: Cursor, config: MonitoredChain): Promise<Step> {
    const { from } = config;
    if (from !== 'head' && from < cursor.startBlock) {
      await this.#beginEarlier(cursor, from);
      return 'moved';
    }
    return this.#reader.withEndpoint((question) => this.#stepAt(question, cursor, config));
  }

  /** Applies an earlier first block from the configuration: blocks before the old one become a backfill. */
  async #beginEarlier(cursor: Cursor, from: number): Promise<void> {
    const { chainId, startBlock } = cursor;
    await this.#parts.database.transaction(async (transaction) => {
      const isMoved = await moveStart(transaction, chainId, from);
      if (isMoved) await addBackfill(transaction, chainId, { first: from, last: startBlock - 1 });
    });
    const facts = { event: 'monitor_start_moved', chain_id: chainId, from, until: startBlock - 1 };
    this.#log.info(facts, 'blocks before the first followed one will be read');
    this.#cursor = undefined;
    this.#noBackfillAt = -Infinity;
  }

  async #stepAt(question: BlockSource, cursor: Cursor, config: MonitoredChain): Promise<Step> {
    const { head, finalized, isFinalityKnown } = await this.#readHead(question);
    if (await this.#isBehind(question, cursor, head)) return 'idle';
    if (config.confirmations === 'finalized' && !isFinalityKnown) {
      const message = `The endpoint ${question.endpoint.label} does not report a final block.`;
      throw new FollowFault('finality_unknown', message);
    }
    const target =
      config.confirmations === 'finalized' ? finalized : head.number - config.confirmations;
    const isReplaced = head.number === cursor.number && head.hash !== (cursor.hash ?? head.hash);
    if (isReplaced) return this.#rollBack(question, cursor, finalized);
    const isCurrent = cursor.number >= target;
    await this.#noteHead(cursor, head.number, finalized, isCurrent);
    if (isCurrent) return this.#rest(question, head.number);
    return this.#readOn(question, cursor, { head, target, finalized });
  }

  async #readHead(question: BlockSource): Promise<ChainHead> {
    const latest = await requireHeader(question, 'latest');
    const read = await this.#reader.readHead(question, latest);
    const now = performance.now();
    if (this.#lastHead?.number !== latest.number) {
      this.#lastHead = { number: latest.number, since: now };
    }
    this.#learnPace(question, latest);
    // A local chain whose blocks are replaced has been restarted, so all of it is read again.
    this.#finalized = question.chain.local ? latest.number : read.finalized;
    return read;
  }

  /** Sets the poll interval to half of the usual block time; the operator's own node may be polled often. */
  #learnPace(question: BlockSource, latest: { number: number; timestamp: number }): void {
    const before = this.#paceHead;
    if (before === undefined || latest.number > before.number) {
      if (before !== undefined) this.#pace = updatePace(this.#pace, before, latest);
      this.#paceHead = { number: latest.number, timestamp: latest.timestamp };
    }
    if (this.#settings.pollMs !== undefined) this.#pollMs = this.#settings.pollMs;
    else if (isOwnNode(question.chain, question.endpoint)) this.#pollMs = LEAST_POLL_MS;
    else {
      const usual = medianBlockSeconds(this.#pace);
      const half = usual === undefined ? FIRST_POLL_MS : usual * 500;
      this.#pollMs = Math.min(Math.max(half, LEAST_POLL_MS), LONGEST_POLL_MS);
    }
  }

  /**
   * Returns whether the endpoint's head is below the cursor. That is not a reorg: nodes behind one URL differ
   * slightly.
   * @throws FollowFault if it persists
   */
  async #isBehind(
    question: BlockSource,
    cursor: Cursor,
    head: { readonly number: number },
  ): Promise<boolean> {
    const isBehind = cursor.hash !== undefined && head.number < cursor.number;
    const behindMs = this.#reader.book.noteBehind(question.endpoint, isBehind);
    if (!isBehind) return false;
    if (behindMs < this.#settings.behindMs) return true;
    // A lagging node still has the followed blocks up to its own head. A local chain may have become shorter,
    // and its node is authoritative.
    const kept = await listHashes(this.#parts.database, this.#chainId);
    const beside = kept.find(({ number }) => number <= head.number);
    const theirs = beside && (await requireHeader(question, beside.number));
    if (question.chain.local || theirs?.hash !== beside?.hash) {
      await this.#rollBack(question, cursor, head.number);
      return true;
    }
    throw new FollowFault(
      'endpoint_behind',
      `The endpoint ${question.endpoint.label} ends at block ${head.number}, below block ${cursor.number} that was read.`,
    );
  }

  /** Nothing to read: from time to time, checks whether another endpoint is further ahead. */
  async #rest(question: BlockSource, head: number): Promise<Step> {
    const now = performance.now();
    const isStalled = now - (this.#lastHead?.since ?? now) >= this.#settings.stalledMs;
    const everyMs = isStalled ? this.#settings.stalledMs : COMPARE_MS;
    if (now - this.#comparedAt >= everyMs) {
      this.#comparedAt = now;
      await this.#reader.preferFurther(question, head + (isStalled ? 0 : USUAL_LAG));
    }
    return 'idle';
  }

  async #readOn(
    question: BlockSource,
    cursor: Cursor,
    { head, target, finalized }: Pick<ChainHead, 'head' | 'finalized'> & { target: number },
  ): Promise<Step> {
    const first = cursor.number + 1;
    const last = Math.min(target, cursor.number + this.#settings.batchBlocks);
    const blocks = await this.#reader.readBlocks(question, first, last, head);
    const [next] = blocks;
    if (next === undefined) return this.#waitForConfirmation(question, first);
    this.#unconfirmedSince = undefined;
    if (cursor.hash !== undefined && next.parentHash !== cursor.hash) {
      return this.#rollBack(question, cursor, finalized);
    }
    const advanced = await advanceCursor(this.#parts.database, cursor, blocks, finalized);
    this.#cursor = advanced.cursor;
    const { stored } = advanced;
    if (stored.added > 0) this.#parts.onCreations?.(this.#chainId);
    const reached = blocks.at(-1)?.number ?? first;
    this.#log.debug(
      { event: 'blocks_followed', chain_id: this.#chainId, first, last: reached, ...stored },
      'blocks were read',
    );
    return target - reached > this.#settings.batchBlocks ? 'moved' : 'near';
  }

  #waitForConfirmation(question: BlockSource, number: number): Step {
    this.#unconfirmedSince ??= performance.now();
    if (performance.now() - this.#unconfirmedSince < this.#settings.behindMs) return 'idle';
    throw new FollowFault(
      'not_confirmed',
      `No endpoint of another operator has block ${number} of ${question.endpoint.label}.`,
    );
  }

  /**
   * Reads the next due backfill. Failures are recorded with the backfill and do not stop the chain.
   * @returns whether a backfill was due
   */
  async #backfill(cursor: Cursor): Promise<boolean> {
    const { backfillPollMs, batchBlocks } = this.#settings;
    if (performance.now() - this.#noBackfillAt < backfillPollMs) return false;
    const { database } = this.#parts;
    const next = await nextBackfill(database, this.#chainId);
    if (next === undefined) {
      this.#noBackfillAt = performance.now();
      return false;
    }
    const last = Math.min(next.last, next.first + batchBlocks - 1);
    try {
      await this.#readAgain(cursor, next, last);
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof CursorLost) throw error;
      const facts = { event: 'backfill_failed', chain_id: this.#chainId, first: next.first, last };
      this.#log.debug({ ...facts, error: messageOf(error) }, 'blocks to reread are postponed');
      const doubledMs = FIRST_BACKFILL_WAIT_MS * 2 ** Math.min(next.attempts, 20);
      const waitMs = Math.min(doubledMs, LONGEST_BACKFILL_WAIT_MS);
      await postponeBackfill(database, cursor, next, last, describeFault(error), waitMs);
    }
    return true;
  }

  async #readAgain(cursor: Cursor, backfill: Backfill, last: number): Promise<void> {
    const blocks = await this.#reader.withEndpoint(async (question) => {
      const read = await this.#reader.readBlocks(question, backfill.first, last);
      if (read.length > 0) return read;
      const message = `No endpoint of another operator has block ${last}.`;
      throw new FollowFault('not_confirmed', message);
    });
    const { database, onCreations, onRolledBack } = this.#parts;
    const stored = await advanceBackfill(database, cursor, backfill, blocks, this.#finalized);
    if (stored === undefined) return;
    const { added, dropped } = stored;
    if (added > 0) onCreations?.(this.#chainId);
    if (dropped.length > 0) onRolledBack?.(this.#chainId, dropped);
  }

  /** Rolls back replaced blocks if enough operators have the new ones. */
  async #rollBack(question: BlockSource, cursor: Cursor, finalized: number): Promise<Step> {
    const { database } = this.#parts;
    const kept = await listHashes(database, this.#chainId);
    const isSame = async ({ number, hash }: { number: number; hash: Hex }): Promise<boolean> =>
      (await readHeader(question, number))?.hash === hash;
    const found = await findFork(kept, isSame);
    const fork = found === undefined ? await forkBelow(question, cursor, kept) : found;
    if (fork.number >= cursor.number) {
      const message = `The endpoint ${question.endpoint.label} has a block after block ${cursor.number} that does not follow it.`;
      throw new FollowFault('blocks_replaced', message);
    }
    const replaced = await readHeader(question, fork.number + 1);
    if (replaced !== null) {
      const isDeep = fork.number < finalized;
      const { number, hash } = replaced;
      if (!(await this.#reader.confirm(question, number, hash, isDeep))) return 'idle';
    }
    const isTooDeep = found === undefined && fork.number >= cursor.startBlock;
    const rolledBack = await rollBack(database, cursor, { ...fork, isTooDeep });
    const { addresses } = rolledBack;
    this.#cursor = rolledBack.cursor;
    const depth = cursor.number - fork.number;
    const facts = {
      event: 'chain_reorganised',
      ...{ chain_id: this.#chainId, fork: fork.number, depth, creations: addresses.length },
      endpoint: question.endpoint.label,
    };
    if (isTooDeep) this.#log.error(facts, 'a reorganisation reaches below the oldest stored block');
    else this.#log.warn(facts, 'a chain was reorganised');
    if (addresses.length > 0) this.#parts.onRolledBack?.(this.#chainId, addresses);
    return 'moved';
  }

  async #noteHead(
    cursor: Cursor,
    head: number,
    finalized: number,
    isCurrent: boolean,
  ): Promise<void> {
    const now = performance.now();
    const isFresh = now - this.#notedAt < this.#settings.heartbeatMs;
    if (isFresh && this.#notedHead === head && this.#shownFault === undefined) return;
    const noted = { head, finalized, isCurrent };
    await recordHead(this.#parts.database, cursor, noted, this.#settings.leaseMs);
    this.#notedAt = now;
    this.#notedHead = head;
    if (isCurrent) this.#shownFault = undefined;
  }

  #succeeded(step: Step): void {
    if (this.#failures > 0) {
      const facts = { event: 'monitor_recovered', chain_id: this.#chainId };
      this.#log.info(facts, 'a chain is followed again');
    }
    this.#failures = 0;
    // Moving the cursor clears the stored fault.
    if (step !== 'idle') this.#shownFault = undefined;
  }

  /**
   * Records why the chain cannot be followed.
   * @returns how long to wait.
   */
  async #failed(error: unknown): Promise<number> {
    this.#failures += 1;
    const { faultMs, longestFaultMs } = this.#settings;
    await this.#showFault(describeFault(error), messageOf(error));
    if (this.#failures % FAULTS_PER_LEASE === 0) await this.#release();
    return Math.min(faultMs * 2 ** Math.min(this.#failures - 1, 10), longestFaultMs);
  }

  async #showFault(
    fault: { readonly code: string; readonly message: string },
    error = fault.message,
  ): Promise<void> {
    const shown = `${fault.code} ${fault.message}`;
    if (shown === this.#shownFault) return;
    const facts = { event: 'monitor_fault', chain_id: this.#chainId, code: fault.code, error };
    this.#log.warn(facts, 'a chain cannot be followed');
    try {
      await recordFault(this.#parts.database, this.#chainId, this.#token, fault);
      this.#shownFault = shown;
    } catch (failure) {
      this.#log.debug({ error: messageOf(failure) }, 'a failure could not be stored');
    }
  }

  async #release(): Promise<void> {
    try {
      await releaseCursor(this.#parts.database, this.#chainId, this.#token);
    } catch (error) {
      this.#log.debug({ error: messageOf(error) }, 'the lease of a chain could not be released');
    }
  }
}

/** Returns the fork if the chain has none of the stored blocks: the block before the oldest stored one. */
async function forkBelow(
  question: BlockSource,
  { startBlock }: Cursor,
  kept: readonly { readonly number: number }[],
): Promise<Omit<Fork, 'isTooDeep'>> {
  const oldest = kept.at(-1)?.number ?? startBlock;
  if (oldest <= startBlock) return { number: startBlock - 1 };
  const header = await requireHeader(question, oldest - 1);
  return { number: header.number, hash: header.hash };
}
