import { FullmatchError } from '../../../errors.ts';
import { checksumAddress } from '../../../lib/hex.ts';
import { type MatchEvent } from '../../../repository/match-feed.ts';

/** What {@link EventHub} may be told. */
export interface EventHubOptions {
  /** How many clients may listen at once. */
  readonly maxClients: number;
  /** How many events a client may have missed before it has to begin anew. */
  readonly backlog?: number;
  /** How often a comment keeps idle connections open. */
  readonly heartbeatMs?: number;
  /** How many bytes a client may leave untaken before it is dropped. */
  readonly maxPendingBytes?: number;
}

const BACKLOG = 1000;
const HEARTBEAT_MS = 15_000;
const MAX_PENDING_BYTES = 262_144;
const RETRY_MS = 3_000;
const RETRY_AFTER_SECONDS = 10;

/** What changed of the chain registry. */
export interface RegistryChange {
  /** Of the bytes of GET /chains, in hexadecimal digits. */
  readonly sha256: string;
  readonly chains: number;
}

interface Client {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
}

/**
 * Sends events to any number of clients up to a bound, as Server-Sent Events (HTML standard, 9.2). Each event is
 * written once and its bytes go to all. A client that does not take what it is sent is dropped; it comes back with the
 * number of the last event that it has, and is sent what it missed.
 */
export class EventHub {
  readonly #options: Required<EventHubOptions>;
  readonly #clients = new Set<Client>();
  /** The events that a returning client may have missed, in the order in which they were sent. */
  readonly #sent: { readonly id: string; readonly bytes: Uint8Array }[] = [];
  readonly #heartbeat: NodeJS.Timeout;
  #closed = false;

  constructor(options: EventHubOptions) {
    this.#options = {
      backlog: BACKLOG,
      heartbeatMs: HEARTBEAT_MS,
      maxPendingBytes: MAX_PENDING_BYTES,
      ...options,
    };
    const comment = Buffer.from(':\n\n');
    this.#heartbeat = setInterval(() => this.#sendAll(comment), this.#options.heartbeatMs);
    this.#heartbeat.unref();
  }

  /** How many clients listen. */
  get clients(): number {
    return this.#clients.size;
  }

  /** Sends events to every client, and keeps them for those that come back. */
  sendMatches(events: readonly MatchEvent[]): void {
    for (const event of events) {
      const bytes = renderMatch(event);
      this.#sent.push({ id: event.eventNumber, bytes });
      this.#sendAll(bytes);
    }
    const surplus = this.#sent.length - this.#options.backlog;
    if (surplus > 0) this.#sent.splice(0, surplus);
  }

  /** Tells every client that the chain registry is another one. */
  sendRegistry(change: RegistryChange): void {
    this.#sendAll(Buffer.from(`event: registry\ndata: ${JSON.stringify(change)}\n\n`));
  }

  /**
   * A new client's stream. With the number of the last event that it has, it begins with those after it, or with
   * `event: reset` where they are not known any more.
   * @throws FullmatchError `too_many_clients`, `shutting_down`
   */
  connect(lastEventId?: string): ReadableStream<Uint8Array> {
    if (this.#closed) throw new FullmatchError('shutting_down', 'The service is about to end.');
    if (this.#clients.size >= this.#options.maxClients) {
      throw new FullmatchError(
        'too_many_clients',
        `${this.#options.maxClients} clients listen already; ask again later, or ask GET /v1/contracts from time to time.`,
        { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } },
      );
    }
    let client: Client | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          client = { controller };
          this.#clients.add(client);
          controller.enqueue(Buffer.from(`retry: ${RETRY_MS}\n\n`));
          for (const bytes of this.#missedSince(lastEventId)) controller.enqueue(bytes);
        },
        cancel: () => {
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
    for (const client of this.#clients) client.controller.close();
    this.#clients.clear();
  }

  #missedSince(lastEventId: string | undefined): readonly Uint8Array[] {
    if (lastEventId === undefined || lastEventId === '') return [];
    const last = this.#sent.findIndex(({ id }) => id === lastEventId);
    if (last !== -1) return this.#sent.slice(last + 1).map(({ bytes }) => bytes);
    return [Buffer.from('event: reset\ndata: {}\n\n')];
  }

  #sendAll(bytes: Uint8Array): void {
    for (const client of this.#clients) {
      const { desiredSize } = client.controller;
      if (desiredSize !== null && desiredSize > 0) client.controller.enqueue(bytes);
      else {
        this.#clients.delete(client);
        client.controller.error(new Error('the client does not take its events'));
      }
    }
  }
}

function renderMatch({ eventNumber, kind, chainId, address, match, name, at }: MatchEvent): Buffer {
  const data = {
    eventNumber,
    kind,
    chainId,
    address: checksumAddress(address),
    match,
    name,
    at: at.toISOString(),
  };
  return Buffer.from(`id: ${eventNumber}\nevent: match\ndata: ${JSON.stringify(data)}\n\n`);
}
