import fc from 'fast-check';
import { type Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { Secret } from '../../lib/secret.ts';
import { connectClient, targetOfUrl } from '../../store/connection-target.ts';
import { MatchFeed } from './match-feed.ts';
import { saveMatches } from './save-matches.ts';

const WRITERS = 3;

let testDatabase: TestDatabase;
let writers: Client[];
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const target = targetOfUrl(new Secret(testDatabase.url), 'test');
  writers = await Promise.all(Array.from({ length: WRITERS }, () => connectClient(target)));
});
afterAll(async () => {
  await Promise.all(writers.map((writer) => writer.end()));
  await testDatabase.drop();
});

/** Writes so many events in the writer's transaction, or at once, and gives their numbers. */
async function write(writer: Client, events: number): Promise<number[]> {
  const { rows } = await writer.query<{ id: string }>(
    `INSERT INTO match_events (kind, chain_id, address, match_after, runtime_match, origin)
     SELECT 'stored', 1, decode(repeat('ab', 20), 'hex'), 'full', 'full', 'verified' FROM generate_series(1, $1)
     RETURNING id`,
    [events],
  );
  return rows.map(({ id }) => Number(id));
}

/** What the feed tells now, and up to which number it says that it has told everything. */
async function read(feed: MatchFeed): Promise<{ numbers: number[]; settled: number }> {
  const numbers: number[] = [];
  let settled = 0;
  for await (const page of feed.readLater()) {
    numbers.push(...page.events.map(({ eventNumber }) => Number(eventNumber)));
    settled = Number(page.settled);
  }
  return { numbers, settled };
}

async function openFeed(): Promise<MatchFeed> {
  const feed = new MatchFeed(testDatabase.database);
  await feed.open(10);
  return feed;
}

test('a number that is committed after higher ones is told once, and then nothing twice', async () => {
  const [early, direct, lost] = writers as [Client, Client, Client];
  const feed = await openFeed();
  await early.query('BEGIN');
  const [first] = await write(early, 1);
  const second = await write(direct, 1);
  expect((await read(feed)).numbers).toEqual(second);
  const third = await write(direct, 1);
  await lost.query('BEGIN');
  await write(lost, 1);
  const fifth = await write(direct, 1);
  await early.query('COMMIT');
  const { numbers, settled } = await read(feed);
  expect(numbers).toEqual([first, ...third, ...fifth]);
  expect(settled).toBeLessThanOrEqual(third[0]!);
  expect((await read(feed)).numbers).toEqual([]);
  await lost.query('ROLLBACK');
  await expect.poll(async () => (await read(feed)).settled).toBe(fifth[0]);
  expect((await read(feed)).numbers).toEqual([]);
});

test('an event that was open when the feed opened is told when it is committed', async () => {
  const [early, direct] = writers as [Client, Client];
  await early.query('BEGIN');
  const numbers = await write(early, 2);
  await write(direct, 20);
  const feed = await openFeed();
  await early.query('COMMIT');
  expect((await read(feed)).numbers).toEqual(numbers);
});

test('more events than a page holds are told in the order of their numbers, again where a reading broke off', async () => {
  const feed = await openFeed();
  const numbers = await write(writers[0]!, 2500);
  for await (const page of feed.readLater()) {
    expect(Number(page.settled)).toBe(Number(page.events.at(-1)!.eventNumber));
    break;
  }
  expect(await read(feed)).toMatchObject({ numbers });
  expect((await read(feed)).numbers).toEqual([]);
});

const step = fc.oneof(
  { weight: 3, arbitrary: fc.nat(WRITERS - 1).map((writer) => ({ writer, end: 'COMMIT' })) },
  { weight: 1, arbitrary: fc.nat(WRITERS - 1).map((writer) => ({ writer, end: 'ROLLBACK' })) },
  { weight: 2, arbitrary: fc.constant('read' as const) },
);

test('in any order of commits, rollbacks and readings each event is told once, and none after its number was settled', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const feed = await openFeed();
      const open = new Map<number, number[]>();
      const committed: number[] = [];
      const told: number[] = [];
      let settled = 0;
      const end = async (writer: number, how: string): Promise<void> => {
        await writers[writer]!.query(how);
        if (how === 'COMMIT') committed.push(...(open.get(writer) ?? []));
        open.delete(writer);
      };
      const look = async (): Promise<void> => {
        const found = await read(feed);
        expect(found.numbers.filter((number) => number <= settled)).toEqual([]);
        expect(found.settled).toBeGreaterThanOrEqual(settled);
        ({ settled } = found);
        told.push(...found.numbers);
      };
      for (const each of steps) {
        if (each === 'read') await look();
        else if (open.has(each.writer)) await end(each.writer, each.end);
        else {
          await writers[each.writer]!.query('BEGIN');
          open.set(each.writer, await write(writers[each.writer]!, 1 + each.writer));
        }
      }
      for (const writer of [...open.keys()]) await end(writer, 'COMMIT');
      await look();
      const ascending = (left: number, right: number): number => left - right;
      expect(told.sort(ascending)).toEqual(committed.sort(ascending));
    }),
    { numRuns: 40 },
  );
});

test('writers of matches at once: no event is missed, and none told twice', async () => {
  const { database } = testDatabase;
  const feed = await openFeed();
  const told: number[] = [];
  let writing = true;
  const following = (async () => {
    while (writing) told.push(...(await read(feed)).numbers);
  })();
  const saved = await Promise.all(
    [1, 2, 3, 4].map(async (writer) => {
      const numbers: string[] = [];
      for (let round = 0; round < 15; round += 1) {
        const batch = Array.from({ length: 5 }, (_, index) =>
          sampleContract(
            1000 + writer,
            sampleAddress(round * 5 + index),
            { runtimeMatch: 'full' },
            { variant: writer },
          ),
        );
        numbers.push(...(await saveMatches(database, batch)).map(({ eventId = '' }) => eventId));
      }
      return numbers.map(Number);
    }),
  );
  writing = false;
  await following;
  told.push(...(await read(feed)).numbers);
  expect(told).toHaveLength(4 * 15 * 5);
  expect(new Set(told)).toEqual(new Set(saved.flat()));
});
