import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { createApiApp } from '../src/http/api/api-app.ts';
import { readWebBundle } from '../src/http/api/pages/web-bundle.ts';
import { type HostApp } from '../src/http/host-app.ts';
import { fixtureDependencies } from './support/http-fixture.ts';

let app: HostApp;
let script = '';
beforeAll(async () => {
  const pages = await readWebBundle();
  script = `/assets/${pages.script}`;
  app = createApiApp(await fixtureDependencies({ pages }));
});

const ask = async (path: string, accepted?: string): Promise<Response> =>
  app.request(path, accepted === undefined ? {} : { headers: { 'accept-encoding': accepted } });
const bytesOf = async (response: Response): Promise<Buffer> =>
  Buffer.from(await response.arrayBuffer());

describe('pages and their files', () => {
  it('come in gzip to who asks for it, and are the same then', async () => {
    const plain = await (await ask('/counts')).text();
    const coded = await ask('/counts', 'br, gzip');
    expect(coded.headers.get('content-encoding')).toBe('gzip');
    expect(coded.headers.get('vary')).toBe('Accept-Encoding');
    const bytes = await bytesOf(coded);
    expect(coded.headers.get('content-length')).toBe(String(bytes.byteLength));
    expect(bytes.byteLength).toBeLessThan(plain.length / 2);
    // The moment at which a page was made stands in it.
    const timeless = (page: string): string => page.replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, '');
    expect(timeless(gunzipSync(bytes).toString())).toBe(timeless(plain));
  });

  it.each([undefined, 'identity', 'zstd', '*;q=0'])('come as they are to %s', async (accepted) => {
    const response = await ask('/counts', accepted);
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    expect(await response.text()).toMatch(/^<!doctype html>/);
  });

  it('weigh less than 60 kB at the first view of each, without data', async () => {
    const { files, templates } = await readWebBundle();
    expect(files.size).toBe(templates.length);
    for (const [view, { styles, modules }] of files) {
      let total = 0;
      for (const path of [script, ...[...styles, ...modules].map((name) => `/assets/${name}`)]) {
        total += (await bytesOf(await ask(path, 'gzip'))).byteLength;
      }
      expect(total, view).toBeGreaterThan(5_000);
      expect(total, view).toBeLessThan(60_000);
    }
  });
});
