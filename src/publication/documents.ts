import { setTimeout as wait } from 'node:timers/promises';

import { messageOf } from '../errors.ts';
import { type Logger } from '../log.ts';
import { addBrotli, makeSnapshot, type Snapshot } from './snapshot.ts';

/** Names of the two published documents: GET /chains and GET /stats.json. */
export type DocumentName = 'chains' | 'statistics';

/** New content of a document. */
export interface DocumentContent {
  readonly bytes: Uint8Array;
  /** When the content changed; equal on every replica if its source provides it. */
  readonly lastModified: Date;
}

/** Both documents at one moment. One that was never published is absent. */
export interface PublishedDocuments {
  readonly chains?: Snapshot;
  readonly statistics?: Snapshot;
}

/** Options of {@link Documents}. */
export interface DocumentsOptions {
  /**
   * How long a version must stay current before its br body is made, in milliseconds (250). An import changes
   * the counts many times a second, and none of the intermediate versions is worth the slow level.
   */
  readonly brotliDelayMs?: number;
  /** Waits for that time, until the signal aborts; replaced by tests. */
  readonly pause?: (signal: AbortSignal) => Promise<void>;
}

const BROTLI_DELAY_MS = 250;
const NAMES = ['chains', 'statistics'] as const satisfies readonly DocumentName[];

/**
 * Current snapshots of both published documents.
 *
 * They hang on one reference that is swapped by one assignment, since every key of stats.json has a record in
 * /chains: a reader sees both before a change or both after it, and never a mix of versions.
 */
export class Documents {
  #current: PublishedDocuments = {};
  readonly #swaps: Record<DocumentName, number> = { chains: 0, statistics: 0 };
  readonly #log: Logger;
  readonly #pause: (signal: AbortSignal) => Promise<void>;
  readonly #closing = new AbortController();
  #pending: Partial<Record<DocumentName, DocumentContent>> = {};
  #publishing: Promise<void> | undefined;
  #compressing: Promise<void> | undefined;

  constructor(log: Logger, options: DocumentsOptions = {}) {
    this.#log = log;
    const { brotliDelayMs = BROTLI_DELAY_MS } = options;
    this.#pause =
      options.pause ?? ((signal) => wait(brotliDelayMs, undefined, { signal, ref: false }));
  }

  /** Both documents now. A reader takes it once and responds from that pair. */
  get current(): PublishedDocuments {
    return this.#current;
  }

  /** How often the content of each document has changed. */
  get swaps(): Readonly<Record<DocumentName, number>> {
    return this.#swaps;
  }

  /**
   * Publishes new content of one document or both at once; resolves when readers see it, or something newer.
   * Unchanged bytes change nothing, including Last-Modified. Contents that arrive while others are being
   * prepared are published together, the newest of each document.
   */
  async publish(contents: Partial<Record<DocumentName, DocumentContent>>): Promise<void> {
    this.#pending = { ...this.#pending, ...contents };
    // A run in progress may have taken its contents already, so its end does not imply that these are
    // published.
    const before = this.#publishing;
    if (before !== undefined) await before.catch(() => undefined);
    this.#publishing ??= this.#publishPending();
    await this.#publishing;
  }

  /** Stops making br bodies, including the current one. The snapshots stay readable, and new ones are published. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#publishing?.catch(() => undefined);
    await this.#compressing;
  }

  async #publishPending(): Promise<void> {
    try {
      const contents = this.#pending;
      this.#pending = {};
      const [chains, statistics] = await Promise.all(
        NAMES.map((name) => this.#prepare(name, contents[name])),
      );
      if (chains !== undefined) this.#swaps.chains += 1;
      if (statistics !== undefined) this.#swaps.statistics += 1;
      this.#swap({ ...(chains && { chains }), ...(statistics && { statistics }) });
    } finally {
      this.#publishing = undefined;
    }
    if (NAMES.some((name) => this.#lacksBrotli(name))) {
      this.#compressing ??= this.#compressWhatStays();
    }
  }

  async #prepare(
    name: DocumentName,
    content: DocumentContent | undefined,
  ): Promise<Snapshot | undefined> {
    if (content === undefined) return undefined;
    const current = this.#current[name];
    if (current?.bodies.identity.equals(content.bytes) === true) return undefined;
    return makeSnapshot(content.bytes, content.lastModified, current);
  }

  #swap(changed: PublishedDocuments): void {
    this.#current = Object.freeze({ ...this.#current, ...changed });
  }

  /** Makes the missing br bodies one at a time, each once its snapshot has been current for the delay. */
  async #compressWhatStays(): Promise<void> {
    try {
      while (NAMES.some((name) => this.#lacksBrotli(name))) {
        const before = this.#current;
        await this.#pause(this.#closing.signal);
        const name = NAMES.find(
          (each) => this.#lacksBrotli(each) && before[each] === this.#current[each],
        );
        if (name !== undefined) await this.#compress(name);
      }
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.#log.error({ event: 'brotli_failed', error: messageOf(error) }, 'no br body made');
      }
    } finally {
      this.#compressing = undefined;
    }
  }

  #lacksBrotli(name: DocumentName): boolean {
    const snapshot = this.#current[name];
    return snapshot !== undefined && snapshot.bodies.br === undefined;
  }

  async #compress(name: DocumentName): Promise<void> {
    const snapshot = this.#current[name];
    if (snapshot === undefined) return;
    const complete = await addBrotli(snapshot, this.#closing.signal);
    // A newer version may have arrived during compression.
    if (this.#current[name] === snapshot) this.#swap({ [name]: complete });
  }
}
