// Large answers of all routes wait for clients that do not take them, within the bytes of each client.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootService, type BootedService } from './support/booted-service.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const HISTORY = '/v1/statistics/history?from=2016-01-01';
const CLIENT_BYTES = 1_048_576;
/** More than a connection holds on its way. */
const ANSWERS_OF_A_CONNECTION = 40;

let testDatabase: TestDatabase;
let service: BootedService;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  service = await bootService({
    databaseUrl: testDatabase.url,
    yaml: `limits: { clientAnswerBytes: ${CLIENT_BYTES} }\nhttp: { trustedProxies: [127.0.0.1] }\n`,
  });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

const get = (
  path: string,
  client: string,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${service.apiUrl}${path}`, { headers: { 'x-forwarded-for': client, ...headers } });

/** Asks on many connections and takes nothing of the answers. */
async function stall(path: string, connections: number, client: string): Promise<Socket[]> {
  const { hostname, port } = new URL(service.apiUrl);
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\n\r\n`;
  return Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('error', () => undefined);
      socket.pause();
      await once(socket, 'connect');
      socket.write(request.repeat(ANSWERS_OF_A_CONNECTION));
      return socket;
    }),
  );
}

describe('large answers that are made for one request', () => {
  test('are refused to a client that does not take them, and to nobody else', async () => {
    const whole = await get(HISTORY, '192.0.2.9');
    const bytes = (await whole.arrayBuffer()).byteLength;
    expect(bytes).toBeGreaterThan(100_000);
    const stalled = await stall(HISTORY, 2 * Math.ceil(CLIENT_BYTES / bytes), '192.0.2.1');
    // While connections still take some, one request is refused and the next one is not.
    let refused = whole;
    const isRefused = async (): Promise<boolean> => {
      refused = await get(HISTORY, '192.0.2.1');
      return refused.status === 429;
    };
    await expect.poll(isRefused).toBe(true);
    expect(await refused.json()).toMatchObject({ code: 'too_many_client_answers' });
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect((await get('/v1/chains?limit=1', '192.0.2.1')).status).toBe(200);
    expect((await get('/openapi.json', '192.0.2.1')).status).toBe(200);
    expect((await get(HISTORY, '198.51.100.1')).status).toBe(200);
    stalled.forEach((socket) => socket.destroy());
    await expect.poll(async () => (await get(HISTORY, '192.0.2.1')).status).toBe(200);
  });
});

describe('GET /openapi.json', () => {
  test('is prepared once, in the codings of the documents', async () => {
    const plain = await get('/openapi.json', '192.0.2.2', { 'accept-encoding': 'identity' });
    const tag = plain.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    expect(plain.headers.get('vary')).toBe('Accept-Encoding');
    const packed = await fetch(`${service.apiUrl}/server/openapi.json/`);
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(packed.headers.get('etag')).toBe(`${tag.slice(0, -1)}-gzip"`);
    expect(await packed.text()).toBe(await plain.text());
    const held = await get('/openapi.json', '192.0.2.2', { 'if-none-match': tag });
    expect([held.status, await held.text()]).toEqual([304, '']);
  });
});
