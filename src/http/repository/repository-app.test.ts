import { beforeAll, describe, expect, test } from 'vitest';

import { createCheckedRepositoryApp } from '../../../test/support/wire/checked-answers.ts';
import {
  FIXTURE_MODIFIED,
  FIXTURE_STATISTICS,
  FIXTURE_STATISTICS_BYTES,
  fixtureDependencies,
} from '../../../test/support/http-fixture.ts';
import { type HostApp } from '../host-app.ts';
import { manifestSchema } from './statistics-schema.ts';

let app: HostApp;
beforeAll(async () => {
  app = createCheckedRepositoryApp(await fixtureDependencies());
});

describe('Repository host', () => {
  test('serves the statistics byte for byte', async () => {
    for (const path of ['/stats.json', '/stats.json?since=1', '/stats.json/']) {
      const response = await app.request(path);
      const body = Buffer.from(await response.arrayBuffer());
      expect(body.equals(FIXTURE_STATISTICS_BYTES), path).toBe(true);
      expect(JSON.parse(body.toString())).toEqual(FIXTURE_STATISTICS);
    }
  });

  test('serves a manifest derived from the statistics alone', async () => {
    const manifest = manifestSchema.parse(await (await app.request('/manifest.json')).json());
    expect(manifest).toEqual({
      timestamp: FIXTURE_MODIFIED.getTime(),
      dateString: '2026-02-03T04:05:06.789Z',
      version: '1.2.3',
    });
  });

  test.each(['/stats.json', '/manifest.json'])(
    'returns not_ready at %s before the first publication',
    async (path) => {
      const early = createCheckedRepositoryApp(await fixtureDependencies({ published: false }));
      const response = await early.request(path);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ code: 'not_ready' });
    },
  );

  test('serves neither the prefix nor the chains of the API host', async () => {
    for (const path of ['/server/stats.json', '/chains']) {
      expect((await app.request(path)).status).toBe(404);
    }
  });

  test('describes itself at / and links to the pages', async () => {
    const page = await (await app.request('/')).text();
    expect(page).toContain('href="./stats.json"');
    expect(page).not.toContain('<script');
    expect(page).toContain('href="http://127.0.0.1:5555/contracts"');
    const alone = createCheckedRepositoryApp(await fixtureDependencies({ urls: () => ({}) }));
    expect(await (await alone.request('/')).text()).toContain('switched off');
  });

  test('serves the assets of its pages and links to the API host', async () => {
    const accept = 'text/html,*/*;q=0.8';
    for (const path of ['/', '/nothing', '/contracts/full_match/1/0x1']) {
      const response = await app.request(path, { headers: { accept } });
      expect(response.headers.get('content-security-policy')).toContain(
        "form-action http://127.0.0.1:5555; frame-ancestors 'none'",
      );
      const page = await response.text();
      expect(page).toContain('<header class="site">');
      expect(page).toContain('href="http://127.0.0.1:5555/contracts"');
      const files = [...page.matchAll(/(?:src|href)="((?:\.\/|\.\.\/)+assets\/[^"]+)"/g)];
      expect(files.length).toBeGreaterThan(0);
      for (const [, file = ''] of files) {
        const { pathname } = new URL(file, `http://x${path}`);
        expect((await app.request(pathname)).status, pathname).toBe(200);
      }
    }
  });

  test('serves /healthz and /readyz', async () => {
    expect((await app.request('/healthz')).status).toBe(200);
    expect((await app.request('/readyz')).status).toBe(200);
  });
});
