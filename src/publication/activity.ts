import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

import { entityTags, type EntityTags } from '../lib/entity-tag.ts';
import { type Logger } from '../log.ts';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import {
  FeedReader,
  followFeed,
  type HistoryQuery,
  readStatisticsHistory,
  readStatisticsOverview,
  sequenceEvents,
} from '../repository/repository.ts';
import { type Database } from '../store/database.ts';
import { type Documents } from './documents.ts';
import { makeSnapshot, type Snapshot } from './snapshot.ts';
import { EventHub, type EventHubOptions } from './event-hub.ts';
import { startPacedLoop } from './paced-loop.ts';
import { renderHistory, renderOverview } from './render-statistics.ts';

const HOUR_MS = 3_600_000;
/** A healthy database computes the statistics in milliseconds. */
const TIMEOUT_MS = 1000;
const BACKLOG = 1000;
/** Interval at which events are numbered and sent, and applied to the statistics, while many matches are stored. */
const EVENTS_GAP_MS = 50;
const STATISTICS_GAP_MS = 250;
/** Pages of the feed that are sent before other work runs. */
const PAGES = 10;
/** Number of histories that are cached until something changes. */
const KEPT_HISTORIES = 200;

/** JSON and its entity tags. */
export interface TaggedJson {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly tags: EntityTags;
}

/** The service's public activity: statistics over time, and live events. */
export interface Activity {
  /** The statistics, computed once per change. */
  readOverview(): Promise<Snapshot>;
  /** A history, computed once per change. */
  readHistory(question: HistoryQuery): Promise<TaggedJson>;
  readonly events: Pick<EventHub, 'connect'>;
  /** Changes with every event and every change of the registry. */
  readonly revision: number;
}

/** The {@link Activity} of a running service. */
export interface RunningActivity extends Activity {
  /** Schedules the numbering, sending and counting of events; the caller does not wait. */
  refresh(): void;
  /** Time since which events have not been numbered, sent or counted because that fails. */
  readonly failingSince: Date | undefined;
  close(): Promise<void>;
}

/** Dependencies of the activity. */
export interface ActivityDependencies {
  readonly database: Database;
  /** The same database with a deadline, for reads that somebody waits for. */
  readonly serving: Database;
  readonly registry: () => ChainRegistry;
  readonly documents: Pick<Documents, 'current'>;
  readonly log: Logger;
}

/** Starts following the feed and sending events. */
export async function openActivity(
  { database, serving, registry, documents, log }: ActivityDependencies,
  options: EventHubOptions,
): Promise<RunningActivity> {
  const feed = new FeedReader(database);
  const opened = await feed.open(BACKLOG);
  const hub = new EventHub({ backlog: BACKLOG, ...options });
  let revision = 0;
  let chains: Snapshot | undefined;
  const histories = new LRUCache<string, Promise<TaggedJson>>({ max: KEPT_HISTORIES });
  const outdate = (): void => {
    revision += 1;
    histories.clear();
  };
  const tellRegistry = (): void => {
    const current = documents.current.chains;
    // A br body that is added later makes another snapshot of the same bytes.
    if (current === undefined || current.tags.identity === chains?.tags.identity) return;
    chains = current;
    outdate();
    hub.sendRegistry({
      sha256: createHash('sha256').update(current.bodies.identity).digest('hex'),
      chains: registry().chains.length,
    });
  };
  tellRegistry();
  hub.begin(opened);
  let position: string | undefined;
  const statistics = startPacedLoop(
    async () => {
      const reached = await followFeed(database);
      if (reached.position !== position) outdate();
      position = reached.position;
      return reached.isBehind;
    },
    { gapMs: STATISTICS_GAP_MS, what: 'statistics over time', log },
  );
  const events = startPacedLoop(
    async () => {
      let isMore = false;
      try {
        isMore = await sequenceEvents(database);
      } finally {
        // Others may have numbered events while this process could not.
        statistics.trigger();
        isMore = (await sendPages(feed, hub)) || isMore;
      }
      return isMore;
    },
    { gapMs: EVENTS_GAP_MS, what: 'events', log },
  );
  events.trigger();
  const overview = createPrepared(
    () => `${revision} ${Math.floor(Date.now() / HOUR_MS)}`,
    async (previous) => {
      const read = await readStatisticsOverview(serving);
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
      const made = readStatisticsHistory(serving, question).then((history) => {
        const bytes = renderHistory(question, history);
        return { bytes, tags: entityTags(bytes) };
      });
      histories.set(key, made);
      made.catch(() => histories.delete(key));
      return made;
    },
    events: hub,
    get revision() {
      return revision;
    },
    get failingSince() {
      return events.failingSince ?? statistics.failingSince;
    },
    refresh: () => {
      tellRegistry();
      events.trigger();
    },
    close: async () => {
      // Listeners are notified at once; running loops may wait for the database.
      await hub.close();
      await events.close();
      await statistics.close();
    },
  };
}

/**
 * Sends the events that are newer than the hub's last one.
 * @returns whether there may be more
 */
async function sendPages(
  feed: Pick<FeedReader, 'open' | 'readLater'>,
  hub: EventHub,
): Promise<boolean> {
  let pages = 0;
  for await (const entries of feed.readLater()) {
    if (entries === undefined) hub.begin(await feed.open(BACKLOG));
    else hub.sendEntries(entries);
    pages += 1;
    if (pages === PAGES) return true;
  }
  return false;
}

/**
 * Caches a value while its key stays the same, and computes it once for all concurrent callers when the key
 * changes. If computing fails or takes long, the previous value is returned; it states its own age.
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

/** The value being computed, or the previous one if that takes too long. */
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
