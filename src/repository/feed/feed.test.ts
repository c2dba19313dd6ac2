import { setImmediate as untilNextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { type Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findDifferences } from '../../../test/support/find-differences.ts';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { Secret } from '../../lib/secret.ts';
import { connectClient, targetOfUrl } from '../../store/connection-target.ts';
import { type Database, sql } from '../../store/database.ts';
import { saveMatch, saveMatches } from '../matches/save-matches.ts';
import { withdrawMatch } from '../matches/withdraw-match.ts';
import { FeedReader } from './feed-reader.ts';
import { advanceFeed } from '../../../test/support/advance-feed.ts';
import { followFeed } from './follow-feed.ts';
import { sequenceEvents } from './sequence-events.ts';

const WRITERS = 8;

let testDatabase: TestDatabase;
let writers: Client[];
beforeAll(async () => {
  testDatabase = await createTestDatabase({ poolSize: 20 });
  const target = targetOfUrl(new Secret(testDatabase.url), 'test');
  writers = await Promise.all(Array.from({ length: WRITERS }, () => connectClient(target)));
});
afterAll(async () => {
  await Promise.all(writers.map((writer) => writer.end().catch(() => undefined)));
  await testDatabase.drop();
});

/** Writes events in the writer's transaction, or on its own, and returns their numbers. */
async function write(writer: Client, events: number): Promise<number[]> {
  const { rows } = await writer.query<{ id: string }>(
    `INSERT INTO match_events (kind, chain_id, address, match_after, runtime_match, origin)
     SELECT 'stored', 1, substring(sha256(random()::text::bytea) FOR 20), 'full', 'full', 'verified' FROM generate_series(1, $1)
     RETURNING id`,
    [events],
  );
  return rows.map(({ id }) => Number(id));
}

const read = <Row extends object>(text: string): Promise<Row[]> =>
  testDatabase.database.query<Row>(sql(`test ${text}`, text));

/** The numbers of the events by position; positions have no gaps. */
async function readFeed(): Promise<number[]> {
  const rows = await read<{ position: string; event_id: string }>(
    'SELECT position, event_id FROM feed ORDER BY position',
  );
  expect(rows.map(({ position }) => Number(position))).toEqual(
    rows.map((_row, index) => index + 1),
  );
  return rows.map(({ event_id }) => Number(event_id));
}

/** What the reader finds now: the numbers of the events, in its order. */
async function readOn(reader: FeedReader): Promise<number[]> {
  const numbers: number[] = [];
  for await (const entries of reader.readLater()) {
    numbers.push(...(entries ?? []).map(({ event }) => Number(event?.eventNumber)));
  }
  return numbers;
}

async function openReader(): Promise<FeedReader> {
  const reader = new FeedReader(testDatabase.database);
  await reader.open(10);
  return reader;
}

const ascending = (left: number, right: number): number => left - right;
/** Yields to the event loop for several turns. */
async function pause(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await untilNextTurn();
}

describe('Sequencer', () => {
  test('numbers events in commit order, without gaps for rollbacks', async () => {
    const [early, direct, lost] = writers as [Client, Client, Client];
    const { database } = testDatabase;
    const before = await readFeed();
    const reader = await openReader();
    await early.query('BEGIN');
    const first = await write(early, 1);
    await lost.query('BEGIN');
    await write(lost, 3);
    const second = await write(direct, 1);
    await sequenceEvents(database);
    expect(await readOn(reader)).toEqual(second);
    const third = await write(direct, 1);
    await lost.query('ROLLBACK');
    await early.query('COMMIT');
    await sequenceEvents(database);
    expect(await readOn(reader)).toEqual([...first, ...third]);
    expect(await readFeed()).toEqual([...before, ...second, ...first, ...third]);
    await sequenceEvents(database);
    expect(await readOn(reader)).toEqual([]);
  });

  const step = fc.oneof(
    { weight: 3, arbitrary: fc.nat(2).map((writer) => ({ writer, end: 'COMMIT' })) },
    { weight: 1, arbitrary: fc.nat(2).map((writer) => ({ writer, end: 'ROLLBACK' })) },
    { weight: 2, arbitrary: fc.constant('sequence' as const) },
  );
  test('numbers exactly the newly committed events for any order of commits, rollbacks and runs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const reader = await openReader();
        const open = new Map<number, number[]>();
        let committed: number[] = [];
        const end = async (writer: number, how: string): Promise<void> => {
          await writers[writer]!.query(how);
          if (how === 'COMMIT') committed.push(...(open.get(writer) ?? []));
          open.delete(writer);
        };
        const look = async (): Promise<void> => {
          await sequenceEvents(testDatabase.database);
          expect(await readOn(reader)).toEqual(committed.sort(ascending));
          committed = [];
        };
        for (const each of steps) {
          if (each === 'sequence') await look();
          else if (open.has(each.writer)) await end(each.writer, each.end);
          else {
            await writers[each.writer]!.query('BEGIN');
            open.set(each.writer, await write(writers[each.writer]!, 1 + each.writer));
          }
        }
        for (const writer of [...open.keys()]) await end(writer, 'COMMIT');
        await look();
      }),
      { numRuns: 40 },
    );
    await readFeed();
  });

  test('two at once with eight writers lose no event, number none twice, and readers see each once', async () => {
    const { database } = testDatabase;
    const before = new Set(await readFeed());
    const committed: number[] = [];
    let writing = true;
    const during = async (work: () => Promise<unknown>): Promise<void> => {
      while (writing) {
        await work();
        await pause(Math.random() * 30);
      }
    };
    const readers = await Promise.all([openReader(), openReader()]);
    const told: number[][] = [[], []];
    const others = [
      during(() => sequenceEvents(database)),
      during(() => sequenceEvents(database)),
      ...readers.map((reader, index) =>
        during(async () => told[index]!.push(...(await readOn(reader)))),
      ),
    ];
    await Promise.all(
      writers.map(async (writer) => {
        for (let round = 0; round < 40; round += 1) {
          await writer.query('BEGIN');
          const numbers = await write(writer, 1 + Math.floor(Math.random() * 4));
          await pause(Math.random() * 120);
          const isKept = Math.random() < 0.7;
          await writer.query(isKept ? 'COMMIT' : 'ROLLBACK');
          if (isKept) committed.push(...numbers);
        }
      }),
    );
    writing = false;
    await Promise.all(others);
    await sequenceEvents(database);
    const feed = (await readFeed()).filter((number) => !before.has(number));
    expect([...feed].sort(ascending)).toEqual(committed.sort(ascending));
    for (const [index, reader] of readers.entries()) {
      told[index]!.push(...(await readOn(reader)));
      expect(told[index]).toEqual(feed);
    }
  });

  test.each(['sequencer', 'follower'])(
    'a %s killed in its transaction leaves nothing behind, and the next one continues',
    async (which) => {
      const { database } = testDatabase;
      await advanceFeed(database);
      const before = await readFeed();
      const numbers = await write(writers[0]!, 5);
      if (which === 'follower') await sequenceEvents(database);
      await expect(
        killedInTransaction(which === 'sequencer' ? sequenceEvents : followFeed),
      ).rejects.toMatchObject({ code: 'database_unreachable' });
      expect(await readFeed()).toEqual(which === 'sequencer' ? before : [...before, ...numbers]);
      await advanceFeed(database);
      expect(await readFeed()).toEqual([...before, ...numbers]);
      await expectRight();
    },
  );

  /** Runs work whose connection is cut after the last statement of its transaction, before the commit. */
  function killedInTransaction(work: (database: Database) => Promise<unknown>): Promise<unknown> {
    const { database } = testDatabase;
    return work({
      ...database,
      transaction: (inTransaction) =>
        database.transaction(async (transaction) => {
          await inTransaction(transaction);
          const own = await transaction.query<{ pid: number }>(
            sql('test own process', 'SELECT pg_backend_pid() AS pid'),
          );
          await writers[1]!.query('SELECT pg_terminate_backend($1)', [own[0]!.pid]);
          return transaction.query(sql('test after the kill', 'SELECT 1')) as never;
        }),
    });
  }

  test('numbers an event once although a restored dump queued it again', async () => {
    const [number = 0] = await write(writers[0]!, 1);
    await sequenceEvents(testDatabase.database);
    await read(`INSERT INTO feed_queue VALUES (${number})`);
    await sequenceEvents(testDatabase.database);
    expect((await readFeed()).filter((each) => each === number)).toHaveLength(1);
    expect(await read('SELECT FROM feed_queue')).toEqual([]);
  });
});

describe('Reader', () => {
  test('receives more than a page of entries in order and resumes where it stopped', async () => {
    const reader = await openReader();
    const numbers = await write(writers[0]!, 2500);
    await sequenceEvents(testDatabase.database);
    const told: number[] = [];
    for await (const entries of reader.readLater()) {
      told.push(...entries!.map(({ event }) => Number(event!.eventNumber)));
      break;
    }
    expect(told).toEqual(numbers.slice(0, told.length));
    expect(await readOn(reader)).toEqual(numbers.slice(told.length));
  });

  test('opens with the newest entries and the position before them', async () => {
    const feed = await readFeed();
    const { entries, since } = await new FeedReader(testDatabase.database).open(3);
    expect(entries.map(({ event }) => Number(event!.eventNumber))).toEqual(feed.slice(-3));
    expect(since.position).toBe(BigInt(feed.length - 3));
  });

  test('detects that a restored database moved or lost the event at its position', async () => {
    const { database } = testDatabase;
    const reader = await openReader();
    const replace = (text: string): Promise<unknown> =>
      database.transaction(async (transaction) => {
        await transaction.query(
          sql('test no triggers', 'SET LOCAL session_replication_role = replica'),
        );
        await transaction.query(sql(`test ${text}`, text));
      });
    const LAST = '(SELECT max(position) FROM feed)';
    const [last] = await read<{ event_id: string }>(
      `SELECT event_id FROM feed WHERE position = ${LAST}`,
    );
    await replace(`UPDATE feed SET event_id = -1 WHERE position = ${LAST}`);
    await replace(
      `INSERT INTO match_events (id, kind, chain_id, reason) OVERRIDING SYSTEM VALUE VALUES (-1, 'corrected', 1, 'test')`,
    );
    for (const damage of [`SELECT 1`, `DELETE FROM feed WHERE position = ${LAST}`]) {
      await replace(damage);
      const pages = [];
      for await (const entries of reader.readLater()) pages.push(entries);
      expect(pages).toEqual([undefined]);
    }
    await replace('DELETE FROM match_events WHERE id = -1');
    await replace(`INSERT INTO feed SELECT ${LAST} + 1, ${last!.event_id}`);
    expect(await readOn(reader)).toEqual([]);
  });
});

async function expectRight(): Promise<void> {
  const differences = await findDifferences(testDatabase.url);
  expect(differences.filter(({ kind }) => /rollup|feed/.test(kind))).toEqual([]);
}

describe('Feed followers', () => {
  test('are exact at their position during concurrent writes, and at the end', async () => {
    const { database } = testDatabase;
    let writing = true;
    const during = async (work: () => Promise<unknown>): Promise<void> => {
      while (writing) await work();
    };
    const others = [
      during(() => advanceFeed(database)),
      during(() => advanceFeed(database)),
      during(expectRight),
    ];
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let round = 0; round < 12; round += 1) {
          const batch = Array.from({ length: 6 }, (_each, index) =>
            sampleContract(
              1000 + ((writer * 7 + round + index * 5) % 40),
              sampleAddress((writer + round + index) % 9),
              { runtimeMatch: (writer + round) % 3 === 0 ? 'full' : 'partial' },
              { variant: index },
            ),
          );
          await saveMatches(database, batch);
          const { chainId, address } = batch[0]!;
          await withdrawMatch(database, { chainId, address, reason: 'test' }).catch(
            () => undefined,
          );
        }
      }),
    );
    writing = false;
    await Promise.all(others);
    await advanceFeed(database);
    await expectRight();
    const [row] = await read<{ behind: string; deadlocks: string }>(
      `SELECT (SELECT count(*) FROM feed_followers WHERE position < (SELECT max(position) FROM feed)) AS behind, deadlocks
       FROM pg_stat_database WHERE datname = current_database()`,
    );
    expect(row).toEqual({ behind: '0', deadlocks: '0' });
  });

  test('count a stored match only when they reach its position', async () => {
    const { database } = testDatabase;
    const counted = () =>
      read<{ events: string }>('SELECT events FROM chain_activity WHERE chain_id = 77');
    await saveMatch(database, sampleContract(77, sampleAddress(1), { runtimeMatch: 'full' }));
    await followFeed(database);
    expect(await counted()).toEqual([]);
    await expectRight();
    await sequenceEvents(database);
    expect(await counted()).toEqual([]);
    await followFeed(database);
    expect(await counted()).toEqual([{ events: '1' }]);
    await followFeed(database);
    expect(await counted()).toEqual([{ events: '1' }]);
  });
});
