import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { createCheckedApiApp } from './support/wire/checked-answers.ts';
import { readWebBundle } from '../src/http/api/pages/web-bundle.ts';
import { type HostApp } from '../src/http/host-app.ts';
import { fixtureDependencies } from './support/http-fixture.ts';

const ADDRESS = `0x${'1'.repeat(40)}`;
const VIEWS = [
  ...['/', '/registry', '/registry/1', '/contracts', `/contract/1/${ADDRESS}`, '/counts'],
  `/compare/1/${ADDRESS}?with=${ADDRESS}`,
  ...[
    '/verify',
    '/job/3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f',
    '/statistics',
    '/docs',
    '/search?q=a',
  ],
];

let app: HostApp;
beforeAll(async () => {
  const pages = await readWebBundle();
  app = createCheckedApiApp(await fixtureDependencies({ pages }));
});

const ask = async (path: string, accepted = 'identity', accept = '*/*'): Promise<Response> =>
  app.request(path, { headers: { 'accept-encoding': accepted, accept } });
const bytesOf = async (response: Response): Promise<Buffer> =>
  Buffer.from(await response.arrayBuffer());

describe('pages and static files', () => {
  test('are gzipped for clients that accept it, with identical content', async () => {
    const plain = await (await ask('/counts')).text();
    const coded = await ask('/counts', 'br, gzip');
    expect(coded.headers.get('content-encoding')).toBe('gzip');
    expect(coded.headers.get('vary')).toBe('Accept-Encoding');
    const bytes = await bytesOf(coded);
    expect(coded.headers.get('content-length')).toBe(String(bytes.byteLength));
    expect(bytes.byteLength).toBeLessThan(plain.length / 2);
    // The page contains the time at which it was rendered.
    const timeless = (page: string): string => page.replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, '');
    expect(timeless(gunzipSync(bytes).toString())).toBe(timeless(plain));
  });

  test.each([undefined, 'identity', 'zstd', '*;q=0'])(
    'are sent uncompressed to %s',
    async (accepted) => {
      const response = await ask('/counts', accepted);
      expect(response.headers.get('content-encoding')).toBeNull();
      expect(response.headers.get('vary')).toBe('Accept-Encoding');
      expect(await response.text()).toMatch(/^<!doctype html>/);
    },
  );

  test.each(VIEWS)('weigh less than 40 kB on the first view, without data: %s', async (path) => {
    const page = await (await ask(path, undefined, 'text/html')).text();
    const files = [...page.matchAll(/(?:src|href)="([./]+assets\/[^"]+)"/g)].map(
      ([, file]) => file!,
    );
    expect(files.length).toBeGreaterThan(0);
    let total = 0;
    for (const file of files) {
      const { pathname } = new URL(file, `http://localhost${path}`);
      total += (await bytesOf(await ask(pathname, 'gzip'))).byteLength;
    }
    expect(total).toBeGreaterThan(2_000);
    expect(total).toBeLessThan(40_000);
  });

  test('contain no path of the machine that built them', async () => {
    const root = fileURLToPath(new URL('..', import.meta.url));
    const folder = path.join(root, 'dist');
    const names = await readdir(folder, { recursive: true });
    const scripts = names.filter((name) => /\.(?:js|css|json)$/.test(name));
    expect(scripts.length).toBeGreaterThan(10);
    for (const name of scripts) {
      const text = await readFile(path.join(folder, name), 'utf8');
      expect(text.includes(root), name).toBe(false);
    }
  });

  test('are all covered by the size check', async () => {
    expect(VIEWS).toHaveLength((await readWebBundle()).templatesOf('api').length);
  });
});
