import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { chooseAnswer } from '../http/answer-snapshot.ts';
import { addBrotli, makeSnapshot, type Snapshot } from './snapshot.ts';

const MODIFIED = new Date('2026-02-03T04:05:06.789Z');
const HTTP_DATE = 'Tue, 03 Feb 2026 04:05:06 GMT';

const none = { acceptEncoding: undefined, ifNoneMatch: undefined, ifModifiedSince: undefined };
const make = (text: string, previous?: Snapshot): Promise<Snapshot> =>
  makeSnapshot(Buffer.from(text), MODIFIED, previous);

describe('a snapshot', () => {
  test('holds the same content in every coding', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        const snapshot = await addBrotli(await makeSnapshot(bytes, MODIFIED));
        expect(snapshot.identity.body.equals(bytes)).toBe(true);
        expect(gunzipSync(snapshot.gzip.body).equals(bytes)).toBe(true);
        expect(brotliDecompressSync(snapshot.br!.body).equals(bytes)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  test('is not changed by what happens to the bytes that it was made from', async () => {
    const bytes = Buffer.from('[1,2,3]');
    const snapshot = await makeSnapshot(bytes, MODIFIED);
    bytes.fill(0);
    expect(snapshot.identity.body.toString()).toBe('[1,2,3]');
  });

  test('keeps its tags and bodies when br is added', async () => {
    const quick = await make('[]');
    const complete = await addBrotli(quick);
    expect(quick.br).toBeUndefined();
    expect(complete.tags).toEqual(quick.tags);
    expect(complete.gzip).toBe(quick.gzip);
    expect(complete.lengths.br).toBe(complete.br?.body.byteLength);
  });

  test('says in its headers what its bodies are', async () => {
    const { identity, gzip, br, tags } = await addBrotli(await make('[{"chainId":1}]'));
    expect(identity.headers.record).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': '15',
      etag: tags.identity,
      'last-modified': HTTP_DATE,
      vary: 'Accept-Encoding',
      'access-control-allow-origin': '*',
    });
    expect(identity.headers.record).not.toHaveProperty('content-encoding');
    expect(gzip.headers.record).toMatchObject({ 'content-encoding': 'gzip', etag: tags.gzip });
    expect(br?.headers.record).toMatchObject({ 'content-encoding': 'br', etag: tags.br });
    for (const { headers } of [identity, gzip, br!]) {
      expect(Object.entries(headers.record).flat()).toEqual(headers.raw);
    }
  });

  test('lets caches answer alone for at most a second, and longer only when the service cannot', async () => {
    const { identity } = await make('[]');
    expect(identity.headers.record['cache-control']).toBe(
      'public, max-age=0, stale-while-revalidate=1, stale-if-error=86400',
    );
  });
});

describe('a conditional request', () => {
  test('is 304 with the headers of the tag that the client holds', async () => {
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
  ])('since %j is %i', async (ifModifiedSince, status) => {
    expect(chooseAnswer(await make('[]'), { ...none, ifModifiedSince })?.status).toBe(status);
  });

  test('believes the tag and not the date when it has both', async () => {
    const snapshot = await make('[]');
    const request = { ...none, ifNoneMatch: '"other"', ifModifiedSince: HTTP_DATE };
    expect(chooseAnswer(snapshot, request)?.status).toBe(200);
  });

  test('believes no date that two versions share', async () => {
    const second = await make('[2]', await make('[1]'));
    expect(chooseAnswer(second, { ...none, ifModifiedSince: HTTP_DATE })?.status).toBe(200);
    const later = { ...none, ifModifiedSince: 'Tue, 03 Feb 2026 04:05:07 GMT' };
    expect(chooseAnswer(second, later)?.status).toBe(304);
    const held = { ...none, ifNoneMatch: second.tags.identity };
    expect(chooseAnswer(second, held)?.status).toBe(304);
  });
});
