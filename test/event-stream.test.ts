// GET /v1/events: Server-Sent Events of a whole service.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventHub } from '../src/http/api/statistics/event-hub.ts';
import { checksumAddress } from '../src/lib/hex.ts';
import { type MatchEvent, MatchFeed } from '../src/repository/match-feed.ts';
import { saveMatch, saveMatches } from '../src/repository/save-matches.ts';
import { withdrawMatch } from '../src/repository/withdraw-match.ts';
import { bootService, prepareService, type BootedService } from './support/booted-service.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

let testDatabase: TestDatabase;
let service: BootedService;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  service = await bootService({
    databaseUrl: testDatabase.url,
    environment: { FULLMATCH_EVENTS_MAX_CLIENTS: '2' },
  });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

interface Block {
  readonly id?: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** A client that collects events. */
async function listen(lastEventId?: string, url = service.apiUrl) {
  const ending = new AbortController();
  const response = await fetch(`${url}/v1/events`, {
    signal: ending.signal,
    headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const blocks: Block[] = [];
  let text = '';
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array);
  })().catch(() => undefined);
  const read = (): readonly Block[] => {
    blocks.length = 0;
    for (const block of text.split('\n\n')) {
      const fields = Object.fromEntries(
        block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)),
      ) as Record<string, string>;
      const { id, event, data = '{}' } = fields;
      if (event === undefined) continue;
      blocks.push({
        ...(id !== undefined && { id }),
        event,
        data: JSON.parse(data) as Record<string, unknown>,
      });
    }
    return blocks;
  };
  return {
    read,
    ended,
    leave: async () => {
      ending.abort();
      await ended;
    },
  };
}

const save = (number: number, match: 'full' | 'partial' = 'partial') =>
  saveMatch(
    testDatabase.database,
    sampleContract(1, sampleAddress(number), { runtimeMatch: match }),
  );

describe('GET /v1/events', () => {
  test('tells of stored, upgraded and withdrawn matches, and of a chain that the registry did not know', async () => {
    const client = await listen();
    const { eventId } = await save(1);
    await save(1, 'full');
    await withdrawMatch(testDatabase.database, {
      chainId: 1,
      address: sampleAddress(1),
      reason: 'test',
    });
    await saveMatch(
      testDatabase.database,
      sampleContract(987_654_321_987, sampleAddress(1), { runtimeMatch: 'full' }),
    );
    const matches = () => client.read().filter(({ event }) => event === 'match');
    await expect.poll(() => matches().length).toBe(4);
    expect(matches().map(({ data }) => [data['kind'], data['match'], data['name']])).toEqual([
      ['stored', 'partial', 'Sample'],
      ['upgraded', 'full', 'Sample'],
      ['withdrawn', null, 'Sample'],
      ['stored', 'full', 'Sample'],
    ]);
    expect(matches()[0]).toMatchObject({
      id: eventId,
      data: { eventNumber: eventId, chainId: 1, address: checksumAddress(sampleAddress(1)) },
    });
    const registry = () => client.read().find(({ event }) => event === 'registry')?.data;
    await expect.poll(registry).toBeDefined();
    expect(registry()!['sha256']).toMatch(/^[0-9a-f]{64}$/);
    expect(registry()!['chains']).toBeGreaterThan(1900);
    await client.leave();
  });

  test('goes on after the last event that a client has, and says reset where it cannot', async () => {
    const { eventId: first = '' } = await save(10);
    const { eventId: second = '' } = await save(11);
    const watching = await listen(first);
    await expect.poll(() => watching.read().map(({ id }) => id)).toEqual([second]);
    await watching.leave();
    const lost = await listen('999999999');
    await expect.poll(() => lost.read().map(({ event }) => event)).toEqual(['reset']);
    await lost.leave();
  });

  test('takes no more clients than configured, and takes one again when one has left', async () => {
    const clients = [await listen(), await listen()];
    const refused = await fetch(`${service.apiUrl}/v1/events`);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'too_many_clients' });
    // A HEAD takes no place.
    expect((await fetch(`${service.apiUrl}/v1/events`, { method: 'HEAD' })).status).toBe(200);
    await Promise.all(clients.map(({ leave }) => leave()));
    await expect
      .poll(async () => {
        const response = await fetch(`${service.apiUrl}/v1/events`);
        await response.body?.cancel();
        return response.status;
      })
      .toBe(200);
  });

  test('ends when the service closes, at once and without an error', async () => {
    const { service: other } = prepareService({ databaseUrl: testDatabase.url });
    const { apiUrl = '' } = await other.start();
    const client = await listen(undefined, apiUrl);
    const closed = other.close();
    const first = await Promise.race([
      client.ended.then(() => 'client'),
      closed.then(() => 'close'),
    ]);
    expect(first).toBe('client');
    await closed;
  });
});

describe('the hub of events', () => {
  const event = (number: number): MatchEvent => ({
    eventNumber: String(number),
    kind: 'stored',
    chainId: 1,
    address: sampleAddress(number),
    match: 'full',
    name: '\n\nevent: fake\ndata: {}\n\n',
    at: new Date(0),
  });

  test('drops a client that takes nothing, keeps the others, and forgets events beyond its backlog', async () => {
    const hub = new EventHub({ maxClients: 5, maxPendingBytes: 2_000, backlog: 3 });
    hub.connect();
    const reader = hub.connect().getReader();
    let taken = '';
    const taking = (async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        taken += Buffer.from(value).toString();
      }
    })();
    for (let number = 1; number <= 50; number += 1) {
      hub.sendMatches([event(number)]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(hub.clients).toBe(1);
    expect(taken.match(/^id: /gm)).toHaveLength(50);
    expect(taken).not.toMatch(/^event: fake/m);
    const late = hub.connect('48').getReader();
    await late.read();
    expect(Buffer.from((await late.read()).value!).toString()).toMatch(/^id: 49\n/);
    const lost = hub.connect('47').getReader();
    await lost.read();
    expect(Buffer.from((await lost.read()).value!).toString()).toMatch(/^event: reset\n/);
    await late.cancel();
    await lost.cancel();
    expect(hub.clients).toBe(1);
    await hub.close();
    await taking;
    expect(() => hub.connect()).toThrow(expect.objectContaining({ code: 'shutting_down' }));
  });

  test('sends a comment in the heartbeat', async () => {
    const hub = new EventHub({ maxClients: 1, heartbeatMs: 10 });
    const reader = hub.connect().getReader();
    await reader.read();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe(':\n\n');
    await hub.close();
  });
});

describe('the feed of events', () => {
  test('misses no event of writers that commit out of order, and gives none twice', async () => {
    const { database } = testDatabase;
    const feed = new MatchFeed(database);
    const before = new Set((await feed.open(1000)).map(({ eventNumber }) => eventNumber));
    const seen: string[] = [];
    let writing = true;
    const following = (async () => {
      while (writing) {
        const { events } = await feed.readLater();
        seen.push(...events.map(({ eventNumber }) => eventNumber));
      }
    })();
    await Promise.all(
      [1, 2, 3, 4].map(async (writer) => {
        for (let round = 0; round < 15; round += 1) {
          await saveMatches(
            database,
            Array.from({ length: 5 }, (_, index) =>
              sampleContract(
                1000 + writer,
                sampleAddress(round * 5 + index),
                { runtimeMatch: 'full' },
                { variant: writer },
              ),
            ),
          );
        }
      }),
    );
    writing = false;
    await following;
    seen.push(...(await feed.readLater()).events.map(({ eventNumber }) => eventNumber));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((number) => before.has(number))).toEqual([]);
    expect(seen).toHaveLength(4 * 15 * 5);
    expect(await feed.readLater()).toEqual({ events: [], any: false });
  });
});
