import { expect, test } from 'vitest';
import { silentLogger } from '../src/log.ts';
import { advanceFeed } from '../src/repository/feed/follow-feed.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { readCurrentMatches } from '../src/repository/matches/read-current-matches.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { sql } from '../src/store/database.ts';
import { openStore } from '../src/store/open-store.ts';
import { runCrashRounds } from './support/crash-rounds.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

const ROUNDS = 20;
const WRITERS = 8;
const KILLS = 4;

/** Whether each event has a position, and the positions have no gap. */
const FEED = sql(
  'test feed',
  `SELECT count(*) = max(position) AND count(*) = (SELECT count(*) FROM match_events) AS is_whole,
     (SELECT count(*)::int FROM feed_queue) AS waiting
   FROM feed`,
);

test(`a service and an import killed at ${ROUNDS} random moments lose nothing acknowledged, and the counts stay right`, async () => {
  const report = await runCrashRounds(ROUNDS);
  expect(report.lost).toEqual([]);
  expect(report.differences).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(0);
  expect(report.interrupted).toBeGreaterThan(ROUNDS / 2);
}, 600_000);

test(`PostgreSQL killed ${KILLS} times under ${WRITERS} writers loses nothing acknowledged, and the service goes on`, async () => {
  const folder = await createTemporaryFolder();
  const store = await openStore({ poolSize: WRITERS + 2, dataDir: folder.path }, silentLogger);
  try {
    const { database } = store;
    const acknowledged = new Set<number>();
    let next = 1;
    let running = true;
    const write = async (): Promise<void> => {
      while (running) {
        const numbers = Array.from({ length: 5 }, () => (next += 1));
        const batch = numbers.map((number) =>
          sampleContract(1 + (number % 3), sampleAddress(number), { runtimeMatch: 'partial' }),
        );
        try {
          await saveMatches(database, batch);
          for (const number of numbers) acknowledged.add(number);
        } catch (error) {
          expect(error).toMatchObject({ code: 'database_unreachable' });
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    };
    const follow = async (): Promise<void> => {
      while (running) {
        await advanceFeed(database).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const writers = [...Array.from({ length: WRITERS }, write), follow(), follow()];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = acknowledged.size;
      while (acknowledged.size < before + 100) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 200));
      process.kill(store.server.processId!, 'SIGKILL');
    }
    const before = acknowledged.size;
    while (acknowledged.size < before + 100) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    running = false;
    await Promise.all(writers);

    const stored = new Set<string>();
    for (const chainId of [1, 2, 3]) {
      const mine = [...acknowledged].filter((number) => 1 + (number % 3) === chainId);
      for (const address of (
        await readCurrentMatches(database, chainId, mine.map(sampleAddress))
      ).keys()) {
        stored.add(address);
      }
    }
    expect([...acknowledged].filter((number) => !stored.has(sampleAddress(number)))).toEqual([]);
    expect((await recount(database, { repair: false })).differences).toEqual([]);
    await advanceFeed(database);
    expect((await recount(database, { repair: false })).differences).toEqual([]);
    const [feed] = await database.query(FEED);
    expect(feed).toEqual({ is_whole: true, waiting: 0 });
  } finally {
    await store.close();
    await folder.remove();
  }
}, 300_000);
