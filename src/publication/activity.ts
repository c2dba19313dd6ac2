import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

import { entityTags, type EntityTags } from '../lib/entity-tag.ts';
import { type Logger } from '../log.ts';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import type { FeedReader, HistoryQuestion, StatisticsReader } from '../repository/repository.ts';
import { type Documents } from './documents.ts';
import { makeSnapshot, type Snapshot } from './snapshot.ts';
import { EventHub, type EventHubOptions } from './event-hub.ts';
import { startPacedLoop } from './paced-loop.ts';
import { renderHistory, renderOverview } from './render-statistics.ts';

const HOUR_MS = 3_600_000;
/** The statistics are made in milliseconds by a database that is well. */
const TIMEOUT_MS = 1000;
const BACKLOG = 1000;
/** While much is stored, events are numbered and sent so often, and the statistics take them so often. */
const EVENTS_GAP_MS = 50;
const STATISTICS_GAP_MS = 250;
/** Pages of the feed that are sent before what else waits has its turn. */
const PAGES = 10;
/** How many histories are kept until something changes. */
const KEPT_HISTORIES = 200;

/** JSON and its entity tags. */
export interface TaggedJson {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly tags: EntityTags;
}

/** What the service shows of its own doings: statistics over time, and events as they happen. */
export interface Activity {
  /** The statistics, made once after a change. */
  readOverview(): Promise<Snapshot>;
  /** A history, made once after a change. */
  readHistory(question: HistoryQuestion): Promise<TaggedJson>;
  readonly events: Pick<EventHub, 'connect'>;
  /** Another number after every event and every change of the registry. */
  readonly revision: number;
}

/** The {@link Activity} of a running service. */
export interface RunningActivity extends Activity {
  /** Has what happened since numbered, sent and counted soon; who calls it does not wait for that. */
  refresh(): void;
  /** Since when events are not numbered, sent or counted, while that fails. */
  readonly failingSince: Date | undefined;
  close(): Promise<void>;
}

/** Where it takes its facts from. */
export interface ActivityParts {
  readonly reader: StatisticsReader;
  readonly registry: () => ChainRegistry;
  readonly documents: Pick<Documents, 'current'>;
  readonly log: Logger;
}

/** Begins to follow the feed, and has its followers follow. */
export async function openActivity(
  { reader, registry, documents, log }: ActivityParts,
  options: EventHubOptions,
): Promise<RunningActivity> {
  const feed = reader.createFeedReader();
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
  hub.begin(opened);
  let position: string | undefined;
  const statistics = startPacedLoop(
    async () => {
      const reached = await reader.followFeed();
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
        isMore = await reader.sequenceEvents();
      } finally {
        // Others may have numbered events where this process could not.
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
      const made = reader.readHistory(question).then((history) => {
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
      // Listeners are told at once; what the loops are at may wait for the database.
      await hub.close();
      await events.close();
      await statistics.close();
    },
  };
}

/** Sends what the feed has beyond the hub. @returns whether there may be more */
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
