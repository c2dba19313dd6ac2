// GET /v1/events: Server-Sent Events of a whole service.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventHub } from '../src/publication/event-hub.ts';
import { checksumAddress } from '../src/lib/hex.ts';
import { MATCHES_CHANNEL } from '../src/repository/matches/match-notifications.ts';
import { type FeedEntry } from '../src/repository/feed/feed-reader.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { Secret } from '../src/lib/secret.ts';
import { connectClient, targetOfUrl } from '../src/store/connection-target.ts';
import {
  ALL_CHAINS,
  bootService,
  prepareService,
  type BootedService,
} from './support/booted-service.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const CONNECTIONS_PER_CLIENT = 5;
const MAX_CLIENTS = 4 * CONNECTIONS_PER_CLIENT;

let testDatabase: TestDatabase;
let service: BootedService;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  service = await bootService({
    databaseUrl: testDatabase.url,
    environment: {
      ...ALL_CHAINS,
      FULLMATCH_EVENTS_MAX_CLIENTS: String(MAX_CLIENTS),
      FULLMATCH_HTTP_TRUSTED_PROXIES: '127.0.0.0/8',
    },
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
async function listen(lastEventId?: string, url = service.apiUrl, forwarded = '192.0.2.1') {
  const ending = new AbortController();
  const response = await fetch(`${url}/v1/events`, {
    signal: ending.signal,
    headers: {
      'x-forwarded-for': forwarded,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
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
    /** The last event id that a browser would send when it reconnects. */
    lastId: (): string | undefined => [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1],
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
  test('sends stored, upgraded and withdrawn matches, and a chain new to the registry', async () => {
    const client = await listen();
    const { eventNumber } = await save(1);
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
      data: { eventNumber, chainId: 1, address: checksumAddress(sampleAddress(1)) },
    });
    const registry = () => client.read().find(({ event }) => event === 'registry')?.data;
    await expect.poll(registry).toBeDefined();
    expect(registry()!['sha256']).toMatch(/^[0-9a-f]{64}$/);
    expect(registry()!['chains']).toBeGreaterThan(1900);
    await client.leave();
  });

  const numbersOf = (client: Awaited<ReturnType<typeof listen>>) =>
    client.read().map(({ data }) => data['eventNumber']);

  test("resumes after the client's last event, even if it has none, and sends reset where it cannot", async () => {
    const fresh = await listen();
    await expect.poll(fresh.lastId).toBeDefined();
    await fresh.leave();
    const { eventNumber: missed } = await save(10);
    const back = await listen(fresh.lastId());
    await expect.poll(() => numbersOf(back)).toContain(missed);
    await back.leave();
    for (const id of ['999999999', 'x', '-1', '1-2']) {
      const lost = await listen(id);
      await expect.poll(() => lost.read().map(({ event }) => event)).toEqual(['reset']);
      await lost.leave();
    }
  });

  test('tells a reconnecting client that the registry has changed', async () => {
    const client = await listen();
    await expect.poll(client.lastId).toMatch(/^[0-9]+-[0-9a-f]{8}-[0-9a-z]+$/);
    await client.leave();
    const [told = '', tag = '', mark = ''] = client.lastId()!.split('-');
    const other = await listen(`${told}-${tag === '00000000' ? '11111111' : '00000000'}-${mark}`);
    await expect.poll(() => other.read().map(({ event }) => event)).toContain('registry');
    await other.leave();
    const same = await listen(client.lastId());
    await expect.poll(same.lastId).toBeDefined();
    expect(same.read().map(({ event }) => event)).not.toContain('registry');
    await same.leave();
  });

  test('misses no event that commits late, whichever process the client reconnects to', async () => {
    const late = await connectClient(targetOfUrl(new Secret(testDatabase.url), 'test'));
    const client = await listen();
    await late.query('BEGIN');
    const { rows } = await late.query<{ id: string }>(
      `INSERT INTO match_events (kind, chain_id, address, match_after, runtime_match, origin)
       VALUES ('stored', 1, decode(repeat('ab', 20), 'hex'), 'full', 'full', 'verified') RETURNING id`,
    );
    const { eventNumber } = await save(20);
    await expect.poll(() => numbersOf(client)).toEqual([eventNumber]);
    await client.leave();
    await late.query('COMMIT');
    await late.query(`SELECT pg_notify($1, '')`, [MATCHES_CHANNEL]);
    await late.end();
    // A process that sees both at once sends them in numeric order.
    const other = await bootService({ databaseUrl: testDatabase.url });
    for (const url of [service.apiUrl, other.apiUrl]) {
      const back = await listen(client.lastId(), url);
      await expect.poll(() => numbersOf(back)).toContain(rows[0]!.id);
      await back.leave();
    }
    await other.close();
  });

  test('accepts at most the configured number of clients and another one after a disconnect', async () => {
    const clients = await Promise.all(
      Array.from({ length: MAX_CLIENTS }, (_, index) =>
        listen(undefined, service.apiUrl, `192.0.${index}.1`),
      ),
    );
    const refused = await fetch(`${service.apiUrl}/v1/events`);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'too_many_clients' });
    // A HEAD request takes no slot.
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

  test('limits the connections of one client without affecting others', async () => {
    const clients = await Promise.all(
      Array.from({ length: CONNECTIONS_PER_CLIENT }, () => listen()),
    );
    const ask = (forwarded: string): Promise<Response> =>
      fetch(`${service.apiUrl}/v1/events`, { headers: { 'x-forwarded-for': forwarded } });
    const refused = await ask('192.0.2.1');
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'too_many_clients' });
    const other = await ask('192.0.2.2');
    expect(other.status).toBe(200);
    await other.body?.cancel();
    await Promise.all(clients.map(({ leave }) => leave()));
    await expect
      .poll(async () => {
        const response = await ask('192.0.2.1');
        await response.body?.cancel();
        return response.status;
      })
      .toBe(200);
  });

  test('ends immediately and without an error when the service closes', async () => {
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

describe('the event hub', () => {
  const entry = (number: number, mark = 'm'): FeedEntry => ({
    position: BigInt(number),
    mark: `${mark}${number}`,
    event: {
      eventNumber: String(number),
      kind: 'stored',
      chainId: 1,
      address: sampleAddress(number),
      match: 'full',
      name: '\n\nevent: fake\ndata: {}\n\n',
      origin: 'verified',
      at: new Date(0),
    },
  });
  const read = async (stream: ReadableStreamDefaultReader<Uint8Array>): Promise<string> =>
    Buffer.from((await stream.read()).value ?? []).toString();

  test('drops a client that does not read, keeps the others, and evicts events beyond its backlog', async () => {
    const hub = new EventHub({
      maxClients: 5,
      connectionsPerClient: 5,
      maxPendingBytes: 2_000,
      backlog: 3,
    });
    hub.connect('a');
    const reader = hub.connect('a').getReader();
    let taken = '';
    const taking = (async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        taken += Buffer.from(value).toString();
      }
    })();
    for (let number = 1; number <= 50; number += 1) {
      hub.sendEntries([entry(number)]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(hub.clients).toBe(1);
    expect(taken.match(/^event: match$/gm)).toHaveLength(50);
    expect(taken).not.toMatch(/^event: fake/m);
    const late = hub.connect('a', '48').getReader();
    await late.read();
    expect(Buffer.from((await late.read()).value!).toString()).toMatch(/^id: 49\n/);
    const lost = hub.connect('a', '46').getReader();
    await lost.read();
    expect(Buffer.from((await lost.read()).value!).toString()).toMatch(/^event: reset\n/);
    await late.cancel();
    await lost.cancel();
    expect(hub.clients).toBe(1);
    await hub.close();
    await taking;
    expect(() => hub.connect('a')).toThrow(expect.objectContaining({ code: 'shutting_down' }));
  });

  test('sends reset after the feed was replaced, to connected and reconnecting clients', async () => {
    const hub = new EventHub({ maxClients: 5, connectionsPerClient: 5 });
    hub.sendRegistry({ sha256: 'ab'.repeat(32), chains: 1 });
    hub.sendEntries([entry(1), entry(2), entry(3)]);
    const listening = hub.connect('a').getReader();
    await listening.read();
    expect(await read(listening)).toBe('id: 3-abababab-m3\n\n');
    const since = { position: 0n, mark: '' };
    hub.begin({ entries: [entry(1), entry(2, 'other'), entry(3, 'other')], since });
    expect(await read(listening)).toBe('id: 3-abababab-other3\nevent: reset\ndata: {}\n\n');
    for (const [id, next] of [
      ['3-abababab-m3', /^event: reset\n/],
      ['2-abababab-m2', /^event: reset\n/],
      ['1-abababab-m1', /^id: 2-abababab-other2\nevent: match\n/],
      ['4-abababab-m4', /^event: reset\n/],
      // As earlier versions wrote it.
      ['1-abababab', /^id: 2-abababab-other2\nevent: match\n/],
    ] as const) {
      const back = hub.connect('a', id).getReader();
      await back.read();
      expect(await read(back)).toMatch(next);
      await back.cancel();
    }
    await hub.close();
  });

  test('sends a heartbeat comment with the position of the stream', async () => {
    const hub = new EventHub({ maxClients: 1, connectionsPerClient: 1, heartbeatMs: 10 });
    hub.sendEntries([{ position: 7n, mark: 'correction' }]);
    const taken: string[] = [];
    for await (const bytes of hub.connect('a')) {
      taken.push(Buffer.from(bytes).toString());
      if (taken.length === 3) break;
    }
    expect(taken).toEqual(['retry: 3000\n\n', 'id: 7\n\n', ':\nid: 7\n\n']);
    await hub.close();
  });
});
