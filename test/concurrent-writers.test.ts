import { afterAll, beforeAll, expect, test } from 'vitest';
import { advanceFeed } from './support/advance-feed.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { readStatistics } from '../src/repository/statistics/statistics.ts';
import { type Match } from '../src/repository/matches/verified-contract.ts';
import { findDifferences } from './support/find-differences.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { IS_SLOW_SUITE } from './support/suite.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { waitUntil } from './support/wait-for.ts';

const WRITERS = 8;
const STORES = IS_SLOW_SUITE ? 40_000 : 6_000;
const CHAINS = [1, 10, 56, 2716446429837000];
const ADDRESSES_PER_CHAIN = IS_SLOW_SUITE ? 5_000 : 750;
/** A recount reads everything, so the next one follows after this many more stores. */
const STORES_BETWEEN_RECOUNTS = STORES / 16;

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

/** A small seeded generator (mulberry32), so that a failure can be reproduced. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

test(`${WRITERS} writers store ${STORES} contracts with upgrades and duplicates: counts equal rows and events during and after the writes`, async () => {
  const { database } = testDatabase;
  const best = new Map<string, Match>();
  let stores = 0;
  let running = true;

  const write = async (seed: number): Promise<void> => {
    const random = createRandom(seed);
    while (stores < STORES) {
      const size = Math.min(1 + random(80), STORES - stores);
      stores += size;
      const batch = Array.from({ length: size }, () => {
        const chainId = CHAINS[random(CHAINS.length)]!;
        const match: Match = random(3) === 0 ? 'full' : 'partial';
        const address = sampleAddress(random(ADDRESSES_PER_CHAIN));
        const key = `${chainId} ${address}`;
        if (best.get(key) !== 'full') best.set(key, match);
        return sampleContract(chainId, address, { runtimeMatch: match }, { variant: random(20) });
      });
      await saveMatches(database, batch);
    }
  };
  let samples = 0;
  const sample = async (): Promise<void> => {
    while (running) {
      expect(await findDifferences(testDatabase.url)).toEqual([]);
      samples += 1;
      const enough = stores + STORES_BETWEEN_RECOUNTS;
      await waitUntil(() => !running || stores >= enough);
    }
  };

  const follow = async (): Promise<void> => {
    while (running) {
      await advanceFeed(database);
      const enough = stores + STORES_BETWEEN_RECOUNTS / 4;
      await waitUntil(() => !running || stores >= enough);
    }
  };

  const others = Promise.all([sample(), follow()]);
  await Promise.all(Array.from({ length: WRITERS }, (_, seed) => write(seed + 1)));
  running = false;
  await others;
  await advanceFeed(database);

  expect(samples).toBeGreaterThan(2);
  expect(await findDifferences(testDatabase.url)).toEqual([]);
  const expected = CHAINS.map((chainId) => {
    const matches = [...best]
      .filter(([key]) => key.startsWith(`${chainId} `))
      .map(([, match]) => match);
    const full = matches.filter((match) => match === 'full').length;
    return { chainId, full, partial: matches.length - full };
  });
  expect((await readStatistics(database)).chains).toEqual(expected);
}, 300_000);
