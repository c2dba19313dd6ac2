/** Keeps acknowledged events in the data directory across restarts. */
export const ACKNOWLEDGED_FILE = 'acknowledged.json';

/** A committed event of the log. A database that lost it may assign its number to another event. */
export interface EventMark {
  readonly id: string;
  /** Time of recording, in seconds with microseconds. */
  readonly recordedAt: string;
}

/** A lost commit implies that all later ones are lost; at most this many are in flight. */
const KEPT = 64;

/** Events that this process has reported as stored: the newest ones it saw committed. */
export class AcknowledgedEvents {
  #events: readonly EventMark[] = [];

  /** The newest events, in the order they were reported. */
  get newest(): readonly EventMark[] {
    return this.#events;
  }

  /** Adds events whose transaction was committed. */
  note(events: readonly EventMark[]): void {
    if (events.length === 0) return;
    const known = new Set(this.#events.map(({ id }) => id));
    const added = events.filter(({ id }) => !known.has(id));
    if (added.length > 0) this.#events = [...this.#events, ...added].slice(-KEPT);
  }

  /** Drops events, such as those that the database has lost. */
  forget(events: readonly EventMark[]): void {
    const gone = new Set(events);
    this.#events = this.#events.filter((event) => !gone.has(event));
  }
}
