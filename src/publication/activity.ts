import { createHash } from 'node:crypto';

import { type ChainRegistry } from '../chains/registry/registry.ts';
import { type HistoryQuestion } from '../repository/statistics/statistics-history.ts';
import { type StatisticsReader } from '../repository/statistics/statistics-reader.ts';
import { type Documents } from './documents.ts';
import { makeSnapshot, type Snapshot } from './snapshot.ts';
import { EventHub, type EventHubOptions } from './event-hub.ts';
import { renderHistory, renderOverview } from './render-statistics.ts';

const HOUR_MS = 3_600_000;
/** The statistics are made in milliseconds by a database that is well. */
const TIMEOUT_MS = 1000;
const BACKLOG = 1000;
/** How many histories are kept until something changes. */
const KEPT_HISTORIES = 200;

/** What the service shows of its own doings: statistics over time, and events as they happen. */
export interface Activity {
  /** The statistics, made once after a change. */
  readOverview(): Promise<Snapshot>;
  /** A history as JSON, made once after a change. */
  readHistory(question: HistoryQuestion): Promise<string>;
  readonly events: Pick<EventHub, 'connect'>;
}

/** The {@link Activity} of a running service. */
export interface RunningActivity extends Activity {
  /** Sends what has happened since, and lets what is outdated be made anew when it is asked for. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** Where it takes its facts from. */
export interface ActivitySources {
  readonly reader: StatisticsReader;
  readonly registry: () => ChainRegistry;
  readonly documents: Pick<Documents, 'current'>;
}

/** Begins to follow the event log. */
export async function openActivity(
  { reader, registry, documents }: ActivitySources,
  options: EventHubOptions,
): Promise<RunningActivity> {
  const feed = reader.createFeed();
  const opened = await feed.open(BACKLOG);
  const hub = new EventHub({ backlog: BACKLOG, ...options }, opened.since);
  hub.sendMatches(opened);
  let revision = 0;
  let chains: Snapshot | undefined;
  const histories = new Map<string, Promise<string>>();
  const outdate = (): void => {
    revision += 1;
    histories.clear();
  };
  const tellRegistry = (): void => {
    const current = documents.current.chains;
    // A br body that comes later makes another snapshot of the same bytes.
    if (current === undefined || current.tags.identity === chains?.tags.identity) return;
    chains = current;
    outdate();
    hub.sendRegistry({
      sha256: createHash('sha256').update(current.bodies.identity).digest('hex'),
      chains: registry().chains.length,
    });
  };
  tellRegistry();
  const overview = createPrepared(
    () => `${revision} ${Math.floor(Date.now() / HOUR_MS)}`,
    async (previous) => {
      const read = await reader.readOverview();
      return makeSnapshot(renderOverview(read, registry()), read.asOf, previous);
    },
  );
  return {
    readOverview: overview,
    readHistory: (question) => {
      const today = new Date().toISOString().slice(0, 10);
      const key = JSON.stringify([today, question]);
      const known = histories.get(key);
      if (known !== undefined) return known;
      const made = reader.readHistory(question).then((history) => renderHistory(question, history));
      if (histories.size >= KEPT_HISTORIES) histories.clear();
      histories.set(key, made);
      made.catch(() => histories.delete(key));
      return made;
    },
    events: hub,
    refresh: async () => {
      for await (const page of feed.readLater()) {
        if (page.any) outdate();
        hub.sendMatches(page);
      }
      tellRegistry();
    },
    close: () => hub.close(),
  };
}

/**
 * A function that gives what was made last while its key stays, and makes it anew, once for all who wait, when the
 * key is another. Where that fails or takes long, what was made before is given: it says of itself how old it is.
 */
function createPrepared(
  keyOf: () => string,
  make: (previous: Snapshot | undefined) => Promise<Snapshot>,
): () => Promise<Snapshot> {
  let current: { readonly key: string; readonly value: Snapshot } | undefined;
  let making: { readonly key: string; readonly value: Promise<Snapshot> } | undefined;
  const makeFor = async (key: string): Promise<Snapshot> => {
    try {
      const value = await make(current?.value);
      current = { key, value };
      return value;
    } catch (error) {
      if (current === undefined) throw error;
      return current.value;
    } finally {
      if (making?.key === key) making = undefined;
    }
  };
  return async () => {
    const key = keyOf();
    if (current?.key === key) return current.value;
    if (making?.key !== key) making = { key, value: makeFor(key) };
    return current === undefined ? making.value : within(making.value, current.value);
  };
}

/** What is being made, or what was made before where that takes too long. */
async function within<Value>(made: Promise<Value>, before: Value): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Value>((resolve) => {
    timer = setTimeout(() => resolve(before), TIMEOUT_MS);
  });
  try {
    return await Promise.race([made, late]);
  } finally {
    clearTimeout(timer);
  }
}
