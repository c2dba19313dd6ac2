import { describe, expect, test } from 'vitest';

import { addBrotli, makeSnapshot, type Snapshot } from '../publication/snapshot.ts';
import { chooseAnswer } from './snapshot-response.ts';

const MODIFIED = new Date('2026-02-03T04:05:06.789Z');
const HTTP_DATE = 'Tue, 03 Feb 2026 04:05:06 GMT';

const none = { acceptEncoding: undefined, ifNoneMatch: undefined, ifModifiedSince: undefined };
const make = (text: string, previous?: Snapshot): Promise<Snapshot> =>
  makeSnapshot(Buffer.from(text), MODIFIED, previous);

describe('Response from a snapshot', () => {
  test('sends headers that match its body', async () => {
    const snapshot = await addBrotli(await make('[{"chainId":1}]'));
    const headersOf = (acceptEncoding: string | undefined) =>
      chooseAnswer(snapshot, { ...none, acceptEncoding })!.headers;
    const identity = headersOf(undefined);
    expect(identity.record).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': '15',
      etag: snapshot.tags.identity,
      'last-modified': HTTP_DATE,
      vary: 'Accept-Encoding',
      'access-control-allow-origin': '*',
    });
    expect(identity.record).not.toHaveProperty('content-encoding');
    for (const coding of ['gzip', 'br'] as const) {
      const { record, raw } = headersOf(`${coding}, identity;q=0`);
      expect(record).toMatchObject({
        'content-encoding': coding,
        'content-length': String(snapshot.lengths[coding]),
        etag: snapshot.tags[coding],
      });
      expect(Object.entries(record).flat()).toEqual(raw);
    }
  });

  test('lets caches serve it for at most a second, longer only on errors', async () => {
    expect(chooseAnswer(await make('[]'), none)!.headers.record['cache-control']).toBe(
      'public, max-age=0, stale-while-revalidate=1, stale-if-error=86400',
    );
  });
});

describe('Conditional request', () => {
  test('returns 304 with the headers of the matching ETag', async () => {
    const snapshot = await make('[]');
    const answer = chooseAnswer(snapshot, { ...none, ifNoneMatch: snapshot.tags.br });
    expect(answer).toMatchObject({ status: 304, body: null });
    expect(answer?.headers.record).toMatchObject({
      etag: snapshot.tags.br,
      vary: 'Accept-Encoding',
    });
    expect(answer?.headers.record).not.toHaveProperty('content-length');
  });

  test.each([
    [HTTP_DATE, 304],
    ['Tue, 03 Feb 2026 04:05:07 GMT', 304],
    ['Tuesday, 03-Feb-26 04:05:06 GMT', 304],
    ['Tue, 03 Feb 2026 04:05:05 GMT', 200],
    ['2026-02-03T04:05:06Z', 200],
    ['1770091506', 200],
    ['', 200],
  ])('If-Modified-Since %j returns %i', async (ifModifiedSince, status) => {
    expect(chooseAnswer(await make('[]'), { ...none, ifModifiedSince })?.status).toBe(status);
  });

  test('prefers If-None-Match over If-Modified-Since', async () => {
    const snapshot = await make('[]');
    const request = { ...none, ifNoneMatch: '"other"', ifModifiedSince: HTTP_DATE };
    expect(chooseAnswer(snapshot, request)?.status).toBe(200);
  });

  test('ignores a date that two versions share', async () => {
    const second = await make('[2]', await make('[1]'));
    expect(chooseAnswer(second, { ...none, ifModifiedSince: HTTP_DATE })?.status).toBe(200);
    const later = { ...none, ifModifiedSince: 'Tue, 03 Feb 2026 04:05:07 GMT' };
    expect(chooseAnswer(second, later)?.status).toBe(304);
    const held = { ...none, ifNoneMatch: second.tags.identity };
    expect(chooseAnswer(second, held)?.status).toBe(304);
  });
});
