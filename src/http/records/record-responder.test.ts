import { EventEmitter } from 'node:events';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type Context } from 'hono';
import { afterEach, describe, expect, test } from 'vitest';
import { RecordResponder, type RecordRequest } from './record-responder.ts';
import { createClientOf } from '../client-of.ts';

const LARGE = Buffer.alloc(2 ** 20, 'x');
const SMALL = Buffer.from('small');

const made: RecordResponder[] = [];
afterEach(() => Promise.all(made.splice(0).map((answers) => answers.close())));
function makeAnswers(): RecordResponder {
  const answers = new RecordResponder({
    ...{ cacheBytes: 2 ** 24, readers: 2, clientOf: createClientOf([]), version: '1.2.3' },
  });
  made.push(answers);
  return answers;
}

/** Returns a request with a way to end its connection. */
function requestOf(client: string, headers: Record<string, string> = {}) {
  const socket = Object.assign(new EventEmitter(), { remoteAddress: client, destroyed: false });
  const outgoing = Object.assign(new EventEmitter(), { destroyed: false });
  const c = {
    env: { incoming: { socket, headers: {} }, outgoing },
    req: { header: (name: string) => headers[name] },
  };
  return { c: c as unknown as Context, taken: () => outgoing.emit('close'), socket };
}

const question = (key: string, bytes: Buffer<ArrayBuffer>): RecordRequest & { reads: number } => {
  const asked = {
    ...{ key: [key], type: 'application/json', reads: 0 },
    read: async () => {
      asked.reads += 1;
      return bytes;
    },
  };
  return asked;
};
const refusal = (code: string): unknown => expect.objectContaining({ code });

describe('Record responses', () => {
  test('are read once for concurrent and later requests', async () => {
    const answers = makeAnswers();
    const asked = question('a', LARGE);
    const many = Array.from({ length: 5 }, () => answers.answer(requestOf('192.0.2.1').c, asked));
    const statuses = (await Promise.all(many)).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    await answers.answer(requestOf('192.0.2.2').c, asked);
    expect(asked.reads).toBe(1);
    expect(answers.held).toMatchObject({ hits: 1, misses: 5, renderings: 1, waiting: 0 });
  });

  test('are not read for a client with a current copy', async () => {
    const answers = makeAnswers();
    const asked = question('a', LARGE);
    const tag = (await answers.answer(requestOf('192.0.2.1').c, asked)).headers.get('etag') ?? '';
    const fresh = makeAnswers();
    const held = await fresh.answer(requestOf('192.0.2.1', { 'if-none-match': tag }).c, asked);
    expect([held.status, asked.reads]).toEqual([304, 1]);
  });

  test.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const)('are cached in %s only, if they were requested only so', async (coding, unpack) => {
    const answers = makeAnswers();
    const content = Buffer.from('0123456789'.repeat(1_000));
    const asked = question('a', content);
    const ask = () =>
      answers.answer(requestOf('192.0.2.1', { 'accept-encoding': coding }).c, asked);
    const [packed, shared] = await Promise.all([ask(), ask()]);
    const again = await ask();
    for (const response of [packed, shared, again]) {
      expect(response.headers.get('content-encoding')).toBe(coding);
      expect(response.headers.get('etag')).toMatch(new RegExp(`-${coding}"$`));
      expect(unpack(await response.arrayBuffer())).toEqual(content);
    }
    expect(asked.reads).toBe(1);
    expect(answers.held).toMatchObject({ renderings: 1, hits: 1, misses: 2 });
    // The bytes are not part of a larger buffer.
    expect(answers.held.cached).toBe(Number(packed.headers.get('content-length')) + 400);
    await answers.answer(requestOf('192.0.2.1').c, asked);
    expect(asked.reads).toBe(2);
    expect(answers.held.cached).toBeGreaterThan(content.byteLength);
  });

  test('are read once for concurrent requests in different codings', async () => {
    const answers = makeAnswers();
    const asked = question('a', LARGE);
    const codings = ['identity', 'gzip', 'br'];
    const all = await Promise.all(
      codings.map((coding) =>
        answers.answer(requestOf('192.0.2.1', { 'accept-encoding': coding }).c, asked),
      ),
    );
    expect(all.map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip', 'br']);
    expect(asked.reads).toBe(1);
  });

  test('are compressed from a cached body', async () => {
    const answers = makeAnswers();
    const asked = question('a', Buffer.from('0123456789'.repeat(1_000)));
    await answers.answer(requestOf('192.0.2.1').c, asked);
    for (const coding of ['gzip', 'br']) {
      const { c } = requestOf('192.0.2.1', { 'accept-encoding': coding });
      expect((await answers.answer(c, asked)).headers.get('content-encoding')).toBe(coding);
    }
    expect([asked.reads, answers.held.hits]).toEqual([1, 2]);
  });

  test('that are short are not compressed', async () => {
    const answers = makeAnswers();
    const asked = question('a', SMALL);
    for (let request = 0; request < 2; request += 1) {
      const { c } = requestOf('192.0.2.1', { 'accept-encoding': 'gzip, br' });
      const { headers } = await answers.answer(c, asked);
      expect(headers.get('content-encoding')).toBeNull();
      expect(headers.get('etag')).toMatch(/^"[\w-]{22}"$/);
    }
    const { c } = requestOf('192.0.2.1', { 'accept-encoding': 'gzip', 'if-none-match': '*' });
    const held = await answers.answer(c, asked);
    expect([held.status, held.headers.get('etag')]).toEqual([
      304,
      expect.stringMatching(/^"[\w-]{22}"$/),
    ]);
    expect([asked.reads, answers.held.hits]).toEqual([1, 2]);
  });

  test('that are large are refused only to a client with many unread ones', async () => {
    const answers = makeAnswers();
    const asked = question('a', LARGE);
    const first = requestOf('192.0.2.1');
    await answers.answer(first.c, asked);
    for (let more = 1; more < 8; more += 1) await answers.answer(requestOf('192.0.2.1').c, asked);
    const again = (): Promise<Response> => answers.answer(requestOf('192.0.2.1').c, asked);
    await expect(again()).rejects.toEqual(refusal('too_many_client_answers'));
    const small = await answers.answer(requestOf('192.0.2.1').c, question('b', SMALL));
    expect(small.status).toBe(200);
    expect((await answers.answer(requestOf('192.0.2.2').c, asked)).status).toBe(200);
    first.taken();
    expect((await again()).status).toBe(200);
  });

  test('that are large are limited in total until they are read or disconnected', async () => {
    const answers = makeAnswers();
    const asked = question('a', LARGE);
    const all = Array.from({ length: 32 }, (_, index) => requestOf(`192.0.2.${index >> 3}`));
    for (const { c } of all) await answers.answer(c, asked);
    const late = (): Promise<Response> => answers.answer(requestOf('198.51.100.1').c, asked);
    await expect(late()).rejects.toEqual(refusal('too_many_answers'));
    all[0]?.socket.emit('close');
    expect((await late()).status).toBe(200);
    await expect(late()).rejects.toEqual(refusal('too_many_answers'));
    for (const { taken } of all) taken();
    expect(answers.held.large).toBe(1);
  });

  test('fail for all waiters, and are read again afterwards', async () => {
    const answers = makeAnswers();
    const good = question('a', SMALL);
    const broken = { ...good, read: () => Promise.reject(new Error('broken')) };
    const many = [1, 2].map(() => answers.answer(requestOf('192.0.2.1').c, broken));
    for (const each of many) await expect(each).rejects.toThrow('broken');
    expect((await answers.answer(requestOf('192.0.2.1').c, good)).status).toBe(200);
  });
});
