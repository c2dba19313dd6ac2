import path from 'node:path';
import { setImmediate as untilNextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { silentLogger } from '../src/log.ts';
import { advanceFeed } from './support/advance-feed.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { readCurrentMatches } from '../src/repository/matches/read-current-matches.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { sql } from '../src/store/database.ts';
import { openStore } from '../src/store/open-store.ts';
import { runCrashRounds } from './support/crash-rounds.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { IS_SLOW_SUITE } from './support/suite.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { writeUsedData } from './support/used-data.ts';
import { waitUntil } from './support/wait-for.ts';

const ROUNDS = IS_SLOW_SUITE ? 10 : 3;
const WRITERS = 8;
const KILLS = IS_SLOW_SUITE ? 3 : 1;
/** A kill follows after a number of acknowledged contracts in this range. */
const BETWEEN_KILLS = { least: 100, most: 200 };

/** Checks that each event has a position and that positions have no gap. */
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
  expect(report.interrupted).toBeGreaterThan(0);
}, 600_000);

test(`PostgreSQL killed ${KILLS} times under ${WRITERS} writers loses nothing acknowledged, and the service recovers`, async () => {
  const folder = await createTemporaryFolder();
  const dataDir = path.join(folder.path, 'data');
  await writeUsedData(dataDir);
  const store = await openStore({ poolSize: WRITERS + 2, dataDir }, silentLogger);
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
          await untilNextTurn();
        }
      }
    };
    const follow = async (): Promise<void> => {
      while (running) {
        await advanceFeed(database).catch(() => undefined);
        await untilNextTurn();
      }
    };
    const writers = [...Array.from({ length: WRITERS }, write), follow(), follow()];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { least, most } = BETWEEN_KILLS;
      const enough = acknowledged.size + least + Math.random() * (most - least);
      await waitUntil(() => acknowledged.size >= enough);
      process.kill(store.server.processId!, 'SIGKILL');
    }
    const enough = acknowledged.size + BETWEEN_KILLS.least;
    await waitUntil(() => acknowledged.size >= enough);
    running = false;
    await Promise.all(writers);

    const stored = new Set<string>();
    for (const chainId of [1, 2, 3]) {
      const mine = [...acknowledged].filter((number) => 1 + (number % 3) === chainId);
      const asked = mine.map((number) => ({ chainId, address: sampleAddress(number) }));
      const found = await readCurrentMatches(database, asked);
      for (const [index, { address }] of asked.entries()) {
        if (found[index] !== undefined) stored.add(address);
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
