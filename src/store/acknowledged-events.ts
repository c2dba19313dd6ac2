/** Keeps them in the data directory beyond the end of the process. */
export const ACKNOWLEDGED_FILE = 'acknowledged.json';

/** An event of the log as it was committed: a database that lost it may give its number to another event. */
export interface EventMark {
  readonly id: string;
  /** When it was recorded, in seconds to the microsecond. */
  readonly recordedAt: string;
}

/** A commit that is lost takes all later ones with it; at once few more are under way. */
const KEPT = 64;

/** What this process has told others is stored: the events that it saw committed last. */
export class AcknowledgedEvents {
  #events: readonly EventMark[] = [];

  /** The newest ones, those that were told last at the end. */
  get newest(): readonly EventMark[] {
    return this.#events;
  }

  /** Notes events whose transaction was committed. */
  note(events: readonly EventMark[]): void {
    if (events.length === 0) return;
    const known = new Set(this.#events.map(({ id }) => id));
    const added = events.filter(({ id }) => !known.has(id));
    if (added.length > 0) this.#events = [...this.#events, ...added].slice(-KEPT);
  }

  /** Forgets events, as those that the database does not have any more. */
  forget(events: readonly EventMark[]): void {
    const gone = new Set(events);
    this.#events = this.#events.filter((event) => !gone.has(event));
  }
}
