import { gunzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

import { createCheckedApiApp } from '../../../../test/support/wire/checked-answers.ts';
import { registryOf } from '../../../../test/support/chain-sources.ts';
import {
  fixtureDependencies,
  healthyFacts,
  ROOMY_LIMITS,
} from '../../../../test/support/http-fixture.ts';
import { Gate } from '../../../../test/support/gate.ts';
import { RawClient, waitUntil } from '../../../../test/support/raw-client.ts';
import { TaskThread } from '../../../lib/task-thread.ts';
import { silentLogger } from '../../../log.ts';
import { composeHealth } from '../../health.ts';
import { type HostApp } from '../../host-app.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { listen, type Listener } from '../../listener.ts';
import { PAGE_LIMITS, type PageLimits } from './page-renderer.ts';
import { type PageTask } from './page-thread.ts';
import { type PrefetchedResponse } from './server-bundle.ts';
import { readWebBundle, type WebBundle } from './web-bundle.ts';

const PAYLOAD = `</script><script>alert(1)</script><img src=x onerror="alert(2)">`;

let app: HostApp;
beforeAll(async () => {
  app = createCheckedApiApp(await fixtureDependencies());
});

const readPage = async (path: string, host = app): Promise<{ status: number; page: string }> => {
  const response = await host.request(path);
  return { status: response.status, page: await response.text() };
};

describe('API host pages', () => {
  test.each([
    ['/', 200],
    ['/server', 200],
    ['/server/', 200],
    ['/registry', 200],
    ['/registry/', 200],
    ['/server/registry', 200],
    ['/registry/eip155:1', 200],
    ['/registry/999', 404],
    ['/registry/Twin', 409],
    ['/counts', 200],
    ['/nothing', 404],
  ])('%s returns status %i', async (path, status) => {
    expect((await app.request(path)).status).toBe(status);
  });

  test.each(['/', '/registry', '/registry/1', '/counts'])(
    '%s forbids inline and foreign scripts, styles and frames',
    async (path) => {
      const response = await app.request(path);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).not.toContain('unsafe');
      expect(response.headers.get('x-frame-options')).toBe('DENY');
      const page = await response.text();
      expect(page).not.toMatch(/\son\w+=|\sstyle=|<style|<iframe|javascript:/i);
      const scripts = [...page.matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
      expect(scripts).toHaveLength(2);
      expect(scripts[0]).toMatch(/^<script type="module" src="[./]*assets\/[\w-]+\.js">$/);
      expect(scripts[1]).toBe('<script type="application/json" id="state">');
    },
  );

  test.each([
    ['/', './'],
    ['/registry', './'],
    ['/registry/', '../'],
    ['/registry/1', '../'],
    ['/server', './server/'],
    ['/server/registry/1', '../'],
  ])('%s links to the root of its host as %s', async (path, base) => {
    const { page } = await readPage(path);
    expect(page).toContain(`src="${base}assets/`);
    expect(page).toContain(`href="${base}counts"`);
  });

  test('/docs, rendered once for all, contains nothing from the request that triggered it', async () => {
    const first = await readPage('/docs?token=of-the-first-visitor');
    const second = await readPage('/docs?mine');
    expect(first).toEqual(second);
    const { page } = await readPage('/docs/?token=of-the-first-visitor');
    expect(page).toContain('paper-origin');
    expect(page).not.toContain('of-the-first-visitor');
  });

  test('make their API requests on behalf of the client', async () => {
    const clients: unknown[] = [];
    const parts = await fixtureDependencies();
    const { answers } = parts;
    const admit = answers.admit.bind(answers);
    answers.admit = (c, make, admission) => {
      clients.push([new URL(c.req.url).pathname, answers.clientOf(c)]);
      return admit(c, make, admission);
    };
    const asking = createCheckedApiApp(parts);
    const incoming = { headers: {}, socket: { remoteAddress: '203.0.113.7' } };
    await asking.fetch(new Request('http://localhost/statistics'), { incoming });
    expect(clients).toContainEqual(['/v1/statistics/history', '203.0.113.7']);
  });

  test('/ shows the last known counts and an alert if the statistics cannot be read', async () => {
    const { page } = await readPage('/');
    expect(page).toContain('role="alert"');
    expect(page).toMatch(/<dt>Full matches<\/dt><dd>3<\/dd>/);
    expect(page).toMatch(/<dt>Partial matches<\/dt><dd>9<\/dd>/);
    expect(page).toContain('href="http://127.0.0.1:10000/stats.json"');
    expect(page).toContain('href="./chains"');
  });

  test('/ shows health warnings and omits unknown values', async () => {
    const failure = { since: new Date('2026-02-03T04:30:00Z'), message: '<b>bad</b> list' };
    const stale = createCheckedApiApp(
      await fixtureDependencies({
        health: () => composeHealth({ ...healthyFacts(), listSync: { failure } }),
      }),
    );
    expect((await readPage('/', stale)).page).toContain('&lt;b>bad&lt;/b> list');
    const { now, startedAt, documents, stopping } = healthyFacts();
    const early = createCheckedApiApp(
      await fixtureDependencies({
        health: () => composeHealth({ now, startedAt, documents, stopping }),
        urls: () => ({}),
      }),
    );
    const { page } = await readPage('/', early);
    expect(page).not.toContain('<dt>Full matches</dt>');
    expect(page).toContain('switched off here');
  });

  test('/registry searches and sorts without scripts', async () => {
    const { page } = await readPage('/registry?q=twin&sort=-id');
    expect(page).toMatch(/Showing 2 of 4/);
    expect(page).toMatch(/aria-sort="descending"/);
    expect(page.indexOf('registry/6"')).toBeGreaterThan(0);
    expect(page.indexOf('registry/6"')).toBeLessThan(page.indexOf('registry/5"'));
    expect((await readPage('/registry?q=nothing-like-it')).page).toContain('Show all 4');
  });

  test('/registry explains an empty registry', async () => {
    const empty = createCheckedApiApp(
      await fixtureDependencies({ registry: () => registryOf({}) }),
    );
    const { status, page } = await readPage('/registry', empty);
    expect(status).toBe(200);
    expect(page).toContain('The registry has no chain.');
    expect(page).toContain('<code>registry.include</code>');
  });

  test('chain names are escaped in the page and its data', async () => {
    const registry = registryOf({ list: [{ chainId: 7, name: PAYLOAD, rpc: [] }] });
    const hostile = createCheckedApiApp(await fixtureDependencies({ registry: () => registry }));
    for (const path of ['/registry', '/registry/7']) {
      const { page } = await readPage(path, hostile);
      expect(page.match(/<script/g), path).toHaveLength(2);
      expect(page, path).not.toContain('<img');
      const state = /id="state">\s*(.*)\s*<\/script>/.exec(page)?.[1] ?? '';
      expect(JSON.stringify(JSON.parse(state)), path).toContain(
        JSON.stringify(PAYLOAD).slice(1, -1),
      );
    }
  });
});

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Records the paths that pages request, as a URL parser reads them. */
function recordAsked(deps: HttpDependencies): {
  readonly deps: HttpDependencies;
  readonly asked: string[];
} {
  const asked: string[] = [];
  const { renderer } = deps.pages;
  const recording: typeof renderer = {
    isLarge: (answers) => renderer.isLarge(answers),
    advance: async (...task) => {
      const step = await renderer.advance(...task);
      const paths = 'missing' in step ? step.missing.map(({ path }) => path) : [];
      asked.push(...paths.map((path) => new URL(`/${path}`, 'http://localhost').pathname));
      return step;
    },
    close: () => renderer.close(),
  };
  return { deps: { ...deps, pages: { ...deps.pages, renderer: recording } }, asked };
}

describe('API requests of a page', () => {
  test.each(['/', '/registry', '/contracts/', '/server/registry/1', '/docs', '/v1/chains/../../'])(
    'never reach a page such as %s',
    async (path) => {
      const asked = await app.request(path, {}, { askedFor: '203.0.113.7' });
      expect(asked.status).toBe(404);
      expect(await asked.json()).toMatchObject({ code: 'route_not_found' });
    },
  );

  const ADDRESS = `0x${'1'.repeat(40)}`;
  const STEPS = ['.', '..', '%2e', '%2E%2e', '%20.', '.,..'];
  test.each(
    STEPS.flatMap((step) => [
      `/statistics?chains=${step}`,
      `/statistics?chain=${step}`,
      `/statistics?show=chains&chains=1,${step}`,
      `/contracts?chain=${step}`,
      `/registry/%25${step}`,
      `/contract/1/${ADDRESS}?source=${step}`,
    ]),
  )('stay below the API path that the page names: %s', async (path) => {
    const { deps, asked } = recordAsked(await fixtureDependencies());
    const { status, page } = await readPage(path, createCheckedApiApp(deps));
    expect(status).toBeLessThan(500);
    expect(page).not.toContain('internal_error');
    expect(asked).not.toContain('/');
    expect(asked).not.toContain('/v1/');
    expect(asked).not.toContain('/v1/chains/');
    expect(asked).not.toContain('/chains/');
  });
});

describe('Missing pages', () => {
  const ask = (path: string, accept?: string): Promise<Response> =>
    Promise.resolve(app.request(path, accept === undefined ? {} : { headers: { accept } }));

  test.each(['/nothing', '/server/nothing', '/assets/nothing.js', '/chains/999'])(
    '%s returns an HTML page with the site header to a browser',
    async (path) => {
      const response = await ask(path, BROWSER);
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('vary')).toContain('Accept');
      expect(response.headers.get('cache-control')).toBe('no-store');
      const page = await response.text();
      expect(page).toContain('<header class="site">');
      expect(page).toContain('<h1>Not found</h1>');
    },
  );

  test.each([undefined, '*/*', 'application/json', 'application/json, text/html;q=0.5'])(
    'return a problem document for Accept: %s',
    async (accept) => {
      const response = await ask('/nothing', accept);
      expect(await response.json()).toMatchObject({ code: 'route_not_found', status: 404 });
    },
  );

  test('use the error format of the verification APIs below their paths', async () => {
    expect(await (await ask('/v2/nothing', BROWSER)).json()).toMatchObject({
      customCode: 'route_not_found',
    });
    expect(Object.keys((await (await ask('/files/x', BROWSER)).json()) as object)).toEqual([
      'error',
    ]);
  });

  test('escape a hostile path', async () => {
    const page = await (await ask(`/${encodeURIComponent(PAYLOAD)}`, BROWSER)).text();
    expect(page.match(/<script/g)).toHaveLength(2);
    expect(page).not.toContain('<img');
  });
});

describe('Concurrent page requests', () => {
  const ASK = 'GET /registry HTTP/1.1\r\nHost: x\r\n\r\n';
  let listener: Listener | undefined;
  afterEach(() => listener?.close(0));

  test('stop rendering and fetching after their client disconnects', async () => {
    const deps = await fixtureDependencies();
    const { answers, activity } = deps;
    const gate = new Gate();
    let read = 0;
    const readOverview: typeof activity.readOverview = async () => {
      read += 1;
      await gate.opened;
      return activity.readOverview();
    };
    let asked = 0;
    let dropped = 0;
    const admit = answers.admit.bind(answers);
    answers.admit = (c, make, admission) => {
      // A page's own API requests have no connection.
      if ((c.env as { incoming?: unknown }).incoming === undefined) {
        return admit(c, make, admission);
      }
      asked += 1;
      const noted: typeof make = (requester) => {
        requester.signal.addEventListener('abort', () => (dropped += 1));
        return make(requester);
      };
      return admit(c, noted, admission).catch((error: unknown) => {
        dropped += 1;
        throw error;
      });
    };
    const app = createCheckedApiApp({ ...deps, activity: { ...activity, readOverview } });
    const options = { host: '127.0.0.1', port: 0, limits: ROOMY_LIMITS };
    listener = await listen(app, options, silentLogger);
    const { port } = listener;
    const ask = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
    const many = await Promise.all(Array.from({ length: 12 }, () => RawClient.connect(port)));
    many.forEach((client) => client.send(ask));
    // Five pages per client are made at once.
    await waitUntil(() => asked === 12 && read === 5);
    many.forEach(({ socket }) => socket.destroy());
    await waitUntil(() => dropped === 12);
    gate.open();
    // Making another page gives all running work time to finish.
    const late = await RawClient.connect(port);
    late.send(ask);
    expect((await late.answer()).status).toBe(200);
    late.socket.destroy();
    expect(read).toBe(6);
  });

  test('are limited per client', async () => {
    const options = { host: '127.0.0.1', port: 0, limits: ROOMY_LIMITS };
    const app = createCheckedApiApp(await fixtureDependencies());
    listener = await listen(app, options, silentLogger);
    const { port } = listener;
    const many = await Promise.all(Array.from({ length: 60 }, () => RawClient.connect(port)));
    many.forEach((client) => client.send(ASK));
    const answers = await Promise.all(many.map((client) => client.answer()));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(32);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers['retry-after']).toBe('5');
    expect(JSON.parse(refused?.body ?? '')).toMatchObject({ code: 'too_many_client_answers' });
    many.forEach(({ socket }) => socket.destroy());
  });
});

describe('Page that exceeds its limits', () => {
  const ADDRESS = `0x${'1'.repeat(40)}`;
  // Escaping the line breaks keeps the thread busy for tens of milliseconds.
  const SOURCE = { path: 'a.sol', bytes: 1_500_000, content: '\n'.repeat(1_500_000) };
  const pages: WebBundle[] = [];
  afterEach(() => Promise.all(pages.splice(0).map(({ renderer }) => renderer.close())));

  /** Creates an app with a large contract, whose page has the given limits. */
  async function appWith(limit: Partial<PageLimits['large']>): Promise<HostApp> {
    const large = { ...PAGE_LIMITS.large, ...limit };
    const bundle = await readWebBundle({ ...PAGE_LIMITS, large });
    pages.push(bundle);
    const deps = await fixtureDependencies({ pages: bundle });
    const readSourcePage: typeof deps.contracts.readSourcePage = async () => ({
      ...{ sources: [SOURCE], total: 1, metadataBytes: 0, shown: SOURCE },
    });
    return createCheckedApiApp({ ...deps, contracts: { ...deps.contracts, readSourcePage } });
  }

  test.each([
    ['too long', { taskTimeoutMs: 1 }],
    ['too much memory', { heapBytes: 2 ** 20 }],
  ])('takes %s: returns 503 without affecting other pages', async (_, limit) => {
    const bounded = await appWith(limit);
    const [refused, other] = await Promise.all([
      bounded.request(`/contract/1/${ADDRESS}`),
      bounded.request('/registry'),
    ]);
    const plain = await bounded.request(`/contract/1/${ADDRESS}`, { headers: { accept: BROWSER } });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: 'page_too_large' });
    expect(plain.status).toBe(503);
    expect(plain.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(plain.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(plain.headers.get('retry-after')).toBe('1');
    expect(await plain.text()).toContain('<code>page_too_large</code>');
    expect(other.status).toBe(200);
    expect((await bounded.request('/registry')).status).toBe(200);
  });

  test('is not rendered again for a while after a timeout, whatever the query', async () => {
    const bounded = await appWith({ taskTimeoutMs: 1 });
    expect((await bounded.request(`/contract/1/${ADDRESS}`)).status).toBe(503);
    const asked = vi.spyOn(TaskThread.prototype, 'ask');
    for (const query of ['', '?again', '?x=1']) {
      const refused = await bounded.request(`/contract/1/${ADDRESS}${query}`);
      expect(await refused.json()).toMatchObject({ code: 'page_too_large' });
    }
    const tasks = asked.mock.calls.map(([task]) => task as PageTask);
    asked.mockRestore();
    expect(tasks.length).toBeGreaterThan(0);
    const hasSource = ({ body }: PrefetchedResponse): boolean => (body?.length ?? 0) > SOURCE.bytes;
    expect(tasks.flatMap(({ answers }) => answers).filter(hasSource)).toEqual([]);
    expect((await bounded.request('/registry')).status).toBe(200);
  });

  test('is rendered if its limits allow', async () => {
    const roomy = await appWith({});
    const response = await roomy.request(`/contract/1/${ADDRESS}`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('Not verified yet');
  });
});

describe('Page assets', () => {
  test('are immutable and cacheable for a year', async () => {
    const { page } = await readPage('/');
    const files = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(
      (match) => match[1],
    );
    expect(files.length).toBeGreaterThanOrEqual(2);
    for (const file of files) {
      const response = await app.request(`/${file ?? ''}`);
      expect(response.status, file).toBe(200);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('content-type')).toMatch(
        /^text\/(javascript|css); charset=utf-8$/,
      );
    }
  });

  test('are compressed if the client accepts it', async () => {
    const file = /src="\.\/(assets\/[^"]+)"/.exec((await readPage('/')).page)?.[1] ?? '';
    const plain = await app.request(`/${file}`);
    expect(plain.headers.get('content-encoding')).toBeNull();
    const headers = { 'accept-encoding': 'br, gzip' };
    const packed = await app.request(`/${file}`, { headers });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(packed.headers.get('vary')).toBe('Accept-Encoding');
    const bytes = Buffer.from(await packed.arrayBuffer());
    expect(packed.headers.get('content-length')).toBe(String(bytes.byteLength));
    expect(gunzipSync(bytes).toString()).toBe(await plain.text());
  });

  test.each(['/assets/nothing.js', '/assets/..%2f..%2fpackage.json', '/assets/'])(
    '%s returns 404',
    async (path) => {
      expect((await app.request(path)).status).toBe(404);
    },
  );
});
