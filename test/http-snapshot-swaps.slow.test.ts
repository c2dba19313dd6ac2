import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Pool } from 'undici';
import { expect, test } from 'vitest';

import { createCheckedApiApp, createCheckedRepositoryApp } from './support/wire/checked-answers.ts';
import { Documents } from '../src/publication/documents.ts';
import { listen } from '../src/http/listener.ts';
import { silentLogger } from '../src/log.ts';
import { fixtureDependencies, ROOMY_LIMITS } from './support/http-fixture.ts';

const SWAPS = 5_000;
const READERS = 4;
/** Readers without pauses take nearly all CPU time, and hundreds of responses per swap find nothing more. */
const READER_PAUSE_MS = 20;
/**
 * A br body is compressed once a version has been current this long; doing so for every version would occupy
 * a core for nothing.
 */
const BROTLI_DELAY_MS = 4;
/** One version in this many stays until its br bodies are being compressed and is replaced meanwhile. */
const SWAPS_BETWEEN_STAYS = 20;
const STAY_MS = 10;

const END = Buffer.from('"}');

/** A document of the version, larger than a typical network packet, with a different length per version. */
function versionOf(version: number): { bytes: Buffer; lastModified: Date } {
  const filler = Buffer.alloc(6_000 + (version % 97), String(version % 10));
  const bytes = Buffer.concat([Buffer.from(`{"version":${version},"filler":"`), filler, END]);
  return { bytes, lastModified: new Date(version * 1000) };
}

/** Returns the version of a body that contains it completely and nothing of another. */
function versionIn(body: Buffer): number {
  const { version } = JSON.parse(body.toString()) as { version: number };
  expect(body.equals(versionOf(version).bytes)).toBe(true);
  return version;
}

test(
  `readers during ${SWAPS} swaps see whole versions, each with its own tag, in order, and both documents consistent`,
  { timeout: 300_000 },
  async () => {
    const documents = new Documents(silentLogger, { brotliDelayMs: BROTLI_DELAY_MS });
    const deps = await fixtureDependencies({ documents, published: false });
    await documents.publish({ chains: versionOf(0), statistics: versionOf(0) });
    const options = { host: '127.0.0.1', port: 0, limits: ROOMY_LIMITS };
    const api = await listen(createCheckedApiApp(deps), options, silentLogger);
    const repository = await listen(createCheckedRepositoryApp(deps), options, silentLogger);
    const pools = { api: new Pool(api.url), repository: new Pool(repository.url) };

    let swapping = true;
    const bytesOfTag = new Map<string, string>();
    const seen = new Set<number>();
    const codings = new Set<unknown>();
    const ask = async (path: '/chains' | '/stats.json', coding: string, tag: string) => {
      const pool = path === '/chains' ? pools.api : pools.repository;
      const headers = {
        'accept-encoding': coding,
        ...(tag === '' ? {} : { 'if-none-match': tag }),
      };
      const answer = await pool.request({ path, method: 'GET', headers });
      const raw = Buffer.from(await answer.body.arrayBuffer());
      const etag = String(answer.headers.etag);
      if (answer.statusCode === 304) {
        expect(etag).toBe(tag);
        return { etag, version: undefined };
      }
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['content-length']).toBe(String(raw.byteLength));
      // A strong ETag never names two different bodies, whichever reader saw them.
      const hash = createHash('sha256').update(raw).digest('hex');
      expect(bytesOfTag.get(etag) ?? hash).toBe(hash);
      bytesOfTag.set(etag, hash);
      const encoding = answer.headers['content-encoding'];
      const body =
        encoding === 'gzip' ? gunzipSync(raw) : encoding === 'br' ? brotliDecompressSync(raw) : raw;
      const version = versionIn(body);
      expect(answer.headers['last-modified']).toBe(new Date(version * 1000).toUTCString());
      seen.add(version);
      codings.add(encoding);
      return { etag, version };
    };
    const readers = Array.from({ length: READERS }, async (_, index) => {
      const coding = ['identity', 'gzip', 'br, gzip', 'br'][index % 4]!;
      let [tag, newest] = ['', 0];
      while (swapping) {
        const counts = await ask('/stats.json', coding, tag);
        // The chains are read after the counts, so they are never older: every key of the counts has its
        // record.
        const chains = await ask('/chains', coding, '');
        tag = counts.etag;
        if (counts.version !== undefined) {
          expect(counts.version).toBeGreaterThanOrEqual(newest);
          expect(chains.version).toBeGreaterThanOrEqual(counts.version);
          newest = counts.version;
        }
        await wait(READER_PAUSE_MS);
      }
    });
    for (let version = 1; version <= SWAPS; version += 1) {
      const content = versionOf(version);
      await documents.publish({ chains: content, statistics: content });
      if (version % SWAPS_BETWEEN_STAYS === 0) await wait(STAY_MS);
    }
    swapping = false;
    await Promise.all(readers);
    expect(documents.swaps).toEqual({ chains: SWAPS + 1, statistics: SWAPS + 1 });
    expect(seen.size).toBeGreaterThan(100);
    expect(codings).toEqual(new Set([undefined, 'gzip', 'br']));

    await Promise.all([pools.api.close(), pools.repository.close()]);
    await Promise.all([api.close(1_000), repository.close(1_000)]);
    await documents.close();
  },
);
