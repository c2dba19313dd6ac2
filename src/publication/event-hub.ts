import { type z } from '@hono/zod-openapi';

import { FullmatchError } from '../errors.ts';
import { type eventDataSchemas } from '../http/api/statistics/statistics-routes.ts';
import { FairShares, type Share } from '../lib/fair-shares.ts';
import { checksumAddress } from '../lib/hex.ts';
import { type FeedPage, type MatchEvent } from '../repository/matches/match-feed.ts';

/** What {@link EventHub} may be told. */
export interface EventHubOptions {
  /** How many clients may listen at once. */
  readonly maxClients: number;
  /** How many connections of one client may, and of its network. */
  readonly connectionsPerClient: number;
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
export type RegistryChange = Readonly<z.infer<typeof eventDataSchemas.registry>>;

interface Client {
  readonly seat: Share;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
}

/** The `id` of the stream, see {@link EventHub}: a number, and the first digits of the registry's digest. */
const LAST_EVENT_ID = /^([0-9]{1,19})(?:-([0-9a-f]{8}))?$/;
const TAG_DIGITS = 8;

/**
 * Sends events to any number of clients up to a bound, as Server-Sent Events (HTML standard, 9.2). Each event is
 * written once and its bytes go to all. A client that does not take what it is sent is dropped. Where all seats are
 * taken, a newcomer takes one of the network that holds most of them, see {@link FairShares}.
 *
 * Events come in the order of their commits, which is not that of their numbers and differs between processes. So the
 * `id` of the stream is the number up to which every event has been told. A client that comes back with it, to whatever
 * process, is sent all events with higher numbers: it misses none, and may get some again.
 */
export class EventHub {
  readonly #options: Required<EventHubOptions>;
  readonly #seats: FairShares;
  readonly #clients = new Set<Client>();
  /** The events that a returning client may have missed, in the order in which they were sent. */
  readonly #sent: { readonly number: bigint; readonly bytes: Uint8Array }[] = [];
  readonly #heartbeat: NodeJS.Timeout;
  /** Of the events with higher numbers, all that have been told are kept. */
  #knownSince: bigint;
  #settled = 0n;
  #highest = 0n;
  #registry: RegistryChange | undefined;
  #closed = false;

  /** A hub that will be told all events after the number `knownSince`. */
  constructor(options: EventHubOptions, knownSince = 0n) {
    this.#knownSince = knownSince;
    this.#options = {
      backlog: BACKLOG,
      heartbeatMs: HEARTBEAT_MS,
      maxPendingBytes: MAX_PENDING_BYTES,
      ...options,
    };
    const { maxClients: total, connectionsPerClient: perClient } = options;
    this.#seats = new FairShares({ total, perClient });
    const beat = (): void => this.#sendAll(Buffer.from(`:\nid: ${this.#id}\n\n`));
    this.#heartbeat = setInterval(beat, this.#options.heartbeatMs);
    this.#heartbeat.unref();
  }

  /** How many clients listen. */
  get clients(): number {
    return this.#clients.size;
  }

  /** Sends events to every client, and keeps them for those that come back. */
  sendMatches({ events, settled }: Pick<FeedPage, 'events' | 'settled'>): void {
    for (const event of events) {
      const number = BigInt(event.eventNumber);
      this.#settled = later(this.#settled, number < settled ? number : settled);
      this.#highest = later(this.#highest, number);
      const bytes = renderMatch(this.#id, event);
      this.#sent.push({ number, bytes });
      this.#sendAll(bytes);
    }
    this.#settled = later(this.#settled, settled);
    this.#highest = later(this.#highest, settled);
    const surplus = Math.max(0, this.#sent.length - this.#options.backlog);
    for (const { number } of this.#sent.splice(0, surplus)) {
      this.#knownSince = later(this.#knownSince, number);
    }
  }

  /** Tells every client that the chain registry is another one. */
  sendRegistry(change: RegistryChange): void {
    this.#registry = change;
    this.#sendAll(this.#renderRegistry(change));
  }

  /**
   * A new client's stream; clients of one name share their seats. With the id of its last one, it begins with what it
   * may have missed, or with `event: reset` where that is not known any more.
   * @throws FullmatchError `too_many_clients`, `shutting_down`
   */
  connect(name: string, lastEventId?: string): ReadableStream<Uint8Array> {
    if (this.#closed) throw new FullmatchError('shutting_down', 'The service is about to end.');
    let client: Client | undefined;
    const seat = this.#seats.open(name, () => {
      if (client === undefined) return;
      this.#clients.delete(client);
      client.controller.close();
    });
    const granted = seat.grow(1);
    if (granted !== 'granted') throw tooMany(granted, this.#options);
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          client = { seat, controller };
          this.#clients.add(client);
          controller.enqueue(Buffer.from(`retry: ${RETRY_MS}\n\n`));
          for (const bytes of this.#missedSince(lastEventId)) controller.enqueue(bytes);
          controller.enqueue(Buffer.from(`id: ${this.#id}\n\n`));
        },
        cancel: () => {
          seat.release();
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
    for (const { controller, seat } of this.#clients) {
      seat.release();
      controller.close();
    }
    this.#clients.clear();
  }

  /** Ends the stream of a client that does not take its events, which are thrown away. */
  #drop(client: Client): void {
    this.#clients.delete(client);
    client.seat.release();
    client.controller.error(new Error('the client does not take its events'));
  }

  get #id(): string {
    const { sha256 } = this.#registry ?? {};
    return sha256 === undefined
      ? String(this.#settled)
      : `${this.#settled}-${sha256.slice(0, TAG_DIGITS)}`;
  }

  #missedSince(lastEventId: string | undefined): readonly Uint8Array[] {
    if (lastEventId === undefined || lastEventId === '') return [];
    const [, number, tag] = LAST_EVENT_ID.exec(lastEventId) ?? [];
    const told = BigInt(number ?? -1);
    // A number that is not reached yet may be one of a database that is no more.
    const isKnown = told >= this.#knownSince && told <= this.#highest;
    const missed = isKnown
      ? this.#sent.filter((event) => event.number > told).map(({ bytes }) => bytes)
      : [Buffer.from('event: reset\ndata: {}\n\n')];
    const registry = this.#registry;
    const isOther = tag !== undefined && registry?.sha256.startsWith(tag) === false;
    return isOther ? [...missed, this.#renderRegistry(registry)] : missed;
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
  refused: 'full' | 'client_full',
  { maxClients, connectionsPerClient }: EventHubOptions,
): FullmatchError {
  const listeners =
    refused === 'full'
      ? `${maxClients} clients`
      : `${connectionsPerClient} connections of this client or its network`;
  return new FullmatchError(
    'too_many_clients',
    `${listeners} listen already; ask again later, or ask GET /v1/contracts from time to time.`,
    { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } },
  );
}

const later = (left: bigint, right: bigint): bigint => (left > right ? left : right);

function renderMatch(
  id: string,
  { eventNumber, kind, chainId, address, match, name, at }: MatchEvent,
): Buffer {
  const data: z.infer<typeof eventDataSchemas.match> = {
    eventNumber,
    kind,
    chainId,
    address: checksumAddress(address),
    match,
    name,
    at: at.toISOString(),
  };
  return Buffer.from(`id: ${id}\nevent: match\ndata: ${JSON.stringify(data)}\n\n`);
}
