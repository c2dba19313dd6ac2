import { FullmatchError } from '../errors.ts';
import { Admission, type Leave, type Refusal } from '../lib/admission.ts';
import { checksumAddress } from '../lib/hex.ts';
import {
  FEED_START,
  type FeedEntry,
  type FeedCursor,
  type MatchEvent,
  type OpenedFeed,
} from '../repository/repository.ts';

/** Options of {@link EventHub}. */
export interface EventHubOptions {
  /** Maximum number of listening clients. */
  readonly maxClients: number;
  /** Maximum number of connections of one client. */
  readonly connectionsPerClient: number;
  /** Number of events a client may miss before its stream must be reset. */
  readonly backlog?: number;
  /** Interval of comments that keep idle connections open. */
  readonly heartbeatMs?: number;
  /** Unread bytes after which a client is dropped. */
  readonly maxPendingBytes?: number;
}

const BACKLOG = 1000;
const HEARTBEAT_MS = 15_000;
const MAX_PENDING_BYTES = 262_144;
const RETRY_MS = 3_000;
const RETRY_AFTER_SECONDS = 10;

/** A change of the chain registry. */
export interface RegistryChange {
  /** Digest of the bytes of GET /chains, in hex. */
  readonly sha256: string;
  /** Number of chains. */
  readonly chains: number;
}

interface Client {
  readonly leave: Leave;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
}

/** The `id` of the stream, see {@link EventHub}: position, first digits of the registry's digest, mark of the event. */
const LAST_EVENT_ID = /^([0-9]{1,19})(?:-([0-9a-f]{8})(?:-([0-9a-z]{1,30}))?)?$/;
const TAG_DIGITS = 8;
const RESET = 'event: reset\ndata: {}\n\n';

/**
 * Sends events to a bounded number of clients as Server-Sent Events (HTML standard, 9.2). Each event is
 * encoded once for all clients. A client that does not read is dropped.
 *
 * The `id` of the stream is the feed position up to which events were sent: a client that reconnects with it,
 * to any process, receives all later events once. Its mark detects whether the position is still the same
 * event, also after a backup was restored.
 */
export class EventHub {
  readonly #options: Required<EventHubOptions>;
  readonly #admission: Admission;
  readonly #clients = new Set<Client>();
  /** Events that a returning client may have missed, in feed order. */
  readonly #kept: (FeedCursor & { readonly bytes?: Uint8Array })[] = [];
  readonly #heartbeat: NodeJS.Timeout;
  /** The position before the first one that is kept. */
  #since = FEED_START;
  #registry: RegistryChange | undefined;
  #closed = false;

  constructor(options: EventHubOptions) {
    this.#options = {
      backlog: BACKLOG,
      heartbeatMs: HEARTBEAT_MS,
      maxPendingBytes: MAX_PENDING_BYTES,
      ...options,
    };
    const { maxClients: total, connectionsPerClient: perClient } = options;
    this.#admission = new Admission({ total, perClient }, (refusal) => tooMany(refusal, options));
    const beat = (): void => this.#sendAll(Buffer.from(`:\nid: ${this.#id}\n\n`));
    this.#heartbeat = setInterval(beat, this.#options.heartbeatMs);
    this.#heartbeat.unref();
  }

  /** Number of listening clients. */
  get clients(): number {
    return this.#clients.size;
  }

  /** Sends events to every client, and keeps them for clients that reconnect. */
  sendEntries(entries: readonly FeedEntry[]): void {
    const page = entries.flatMap((entry) => this.#keep(entry) ?? []);
    // Checked first: a client is judged by its earlier backlog, not by the length of this page.
    if (page.length > 0) this.#sendAll(Buffer.concat(page));
  }

  /** Starts with these entries. Existing listeners know another feed, and learn of the change. */
  begin({ entries, since }: OpenedFeed): void {
    this.#since = since;
    this.#kept.length = 0;
    for (const entry of entries) this.#keep(entry);
    this.#sendAll(Buffer.from(`id: ${this.#id}\n${RESET}`));
  }

  #keep({ event, ...place }: FeedEntry): Uint8Array | undefined {
    const bytes = event && renderMatch(this.#idOf(place), event);
    this.#kept.push(bytes === undefined ? place : { ...place, bytes });
    if (this.#kept.length > this.#options.backlog) this.#since = this.#kept.shift() ?? this.#since;
    return bytes;
  }

  /** Tells every client that the chain registry has changed. */
  sendRegistry(change: RegistryChange): void {
    this.#registry = change;
    this.#sendAll(this.#renderRegistry(change));
  }

  /**
   * Opens a client's stream; connections with the same name count for one client. With a last event id it
   * starts with the missed events, or with `event: reset` if those are unknown.
   * @throws FullmatchError `too_many_clients`, `shutting_down`
   */
  connect(name: string, lastEventId?: string): ReadableStream<Uint8Array> {
    if (this.#closed) throw new FullmatchError('shutting_down', 'The service is shutting down.');
    let client: Client | undefined;
    const leave = this.#admission.enterNow(name);
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          client = { leave, controller };
          this.#clients.add(client);
          controller.enqueue(Buffer.from(`retry: ${RETRY_MS}\n\n`));
          for (const bytes of this.#missedSince(lastEventId)) controller.enqueue(bytes);
          controller.enqueue(Buffer.from(`id: ${this.#id}\n\n`));
        },
        cancel: () => {
          leave();
          if (client !== undefined) this.#clients.delete(client);
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: this.#options.maxPendingBytes }),
    );
  }

  /** Ends every stream. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#heartbeat);
    for (const { controller, leave } of this.#clients) {
      leave();
      controller.close();
    }
    this.#clients.clear();
  }

  /** Ends the stream of a client that does not read, and discards its events. */
  #drop(client: Client): void {
    this.#clients.delete(client);
    client.leave();
    client.controller.error(new Error('the client does not read its events'));
  }

  get #id(): string {
    return this.#idOf(this.#kept.at(-1) ?? this.#since);
  }

  #idOf({ position, mark }: FeedCursor): string {
    const digits = this.#registry?.sha256.slice(0, TAG_DIGITS);
    return [position, digits, digits && mark]
      .filter((part) => part !== undefined && part !== '')
      .join('-');
  }

  #missedSince(lastEventId: string | undefined): readonly Uint8Array[] {
    if (lastEventId === undefined || lastEventId === '') return [];
    const [, position, tag, mark] = LAST_EVENT_ID.exec(lastEventId) ?? [];
    const missed = this.#laterThan(BigInt(position ?? -1), mark) ?? [Buffer.from(RESET)];
    const registry = this.#registry;
    const isOther = tag !== undefined && registry?.sha256.startsWith(tag) === false;
    return isOther ? [...missed, this.#renderRegistry(registry)] : missed;
  }

  /** Events after a position; undefined if the position is unknown or belongs to another feed. */
  #laterThan(lastSent: bigint, mark: string | undefined): readonly Uint8Array[] | undefined {
    const places: readonly FeedCursor[] = [this.#since, ...this.#kept];
    const newest = places.at(-1) ?? this.#since;
    if (lastSent < this.#since.position || lastSent > newest.position) return undefined;
    const isSame = ({ position, mark: own }: FeedCursor): boolean =>
      position === lastSent && own === mark;
    if (mark !== undefined && !places.some(isSame)) return undefined;
    return this.#kept.flatMap(({ position, bytes }) =>
      position > lastSent && bytes ? [bytes] : [],
    );
  }

  #renderRegistry(change: RegistryChange): Buffer {
    return Buffer.from(`id: ${this.#id}\nevent: registry\ndata: ${JSON.stringify(change)}\n\n`);
  }

  #sendAll(bytes: Uint8Array): void {
    for (const client of this.#clients) {
      const { desiredSize } = client.controller;
      if (desiredSize !== null && desiredSize > 0) client.controller.enqueue(bytes);
      else this.#drop(client);
    }
  }
}

function tooMany(
  refused: Refusal,
  { maxClients, connectionsPerClient }: EventHubOptions,
): FullmatchError {
  const listeners =
    refused === 'full'
      ? `${maxClients} clients`
      : `${connectionsPerClient} connections of this client`;
  return new FullmatchError(
    'too_many_clients',
    `${listeners} are already connected; try again later, or poll GET /v1/contracts.`,
    { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } },
  );
}

/** An event in wire format. */
export function renderEvent({
  address,
  at,
  ...event
}: MatchEvent): Omit<MatchEvent, 'at'> & { readonly at: string } {
  const { eventNumber, kind, chainId, match, name, origin } = event;
  return {
    eventNumber,
    kind,
    chainId,
    address: checksumAddress(address),
    match,
    name,
    origin,
    at: at.toISOString(),
  };
}

function renderMatch(id: string, event: MatchEvent): Buffer {
  const data = renderEvent(event);
  return Buffer.from(`id: ${id}\nevent: match\ndata: ${JSON.stringify(data)}\n\n`);
}
