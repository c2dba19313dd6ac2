import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootService, type BootedService } from './support/booted-service.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

let testDatabase: TestDatabase;
let service: BootedService;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  service = await bootService({ databaseUrl: testDatabase.url });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.apiUrl}${path}`, { headers });

describe('GET /openapi.json', () => {
  test('is prepared once, in the content encodings of the documents', async () => {
    const plain = await get('/openapi.json', { 'accept-encoding': 'identity' });
    const tag = plain.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    expect(plain.headers.get('vary')).toBe('Accept-Encoding');
    const packed = await fetch(`${service.apiUrl}/server/openapi.json/`);
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(packed.headers.get('etag')).toBe(`${tag.slice(0, -1)}-gzip"`);
    expect(await packed.text()).toBe(await plain.text());
    const held = await get('/openapi.json', { 'if-none-match': tag });
    expect([held.status, await held.text()]).toEqual([304, '']);
  });
});
