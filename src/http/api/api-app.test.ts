import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import { createCheckedApiApp } from '../../../test/support/wire/checked-answers.ts';
import {
  countPages,
  fixtureDependencies,
  FIXTURE_CHAINS,
  healthyFacts,
} from '../../../test/support/http-fixture.ts';
import { type HealthFacts } from '../health-facts.ts';
import { composeHealth } from '../health.ts';
import { createApiApp } from './api-app.ts';
import { type HostApp } from '../host-app.ts';

interface ProblemBody {
  code: string;
  status: number;
  [fact: string]: unknown;
}

let app: HostApp;
beforeAll(async () => {
  app = createCheckedApiApp(await fixtureDependencies());
});

const appWith = async (facts: Partial<HealthFacts>): Promise<HostApp> =>
  createCheckedApiApp(
    await fixtureDependencies({ health: () => composeHealth({ ...healthyFacts(), ...facts }) }),
  );
const problemAt = async (path: string, init?: RequestInit): Promise<ProblemBody> => {
  const response = await app.request(path, init);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  return (await response.json()) as ProblemBody;
};

describe('API host paths', () => {
  test.each([
    '/chains',
    '/chains/',
    '/server/chains',
    '/server/chains/',
    '/chains?x=1&supported=no',
  ])('serve the chains at %s', async (path) => {
    const response = await app.request(path);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(FIXTURE_CHAINS);
  });

  test.each([
    ['', ['/chains'], ['/server/chains', '//chains']],
    ['/', ['/chains'], ['/server/chains']],
    ['v/1/', ['/chains', '/v/1/chains'], ['/v/chains', '/server/chains']],
    ['/server', ['/chains', '/server/chains'], ['/server/server/chains', '/servers/chains']],
  ])('honor the prefix %j', async (apiPrefix, found, missing) => {
    const prefixed = createCheckedApiApp(await fixtureDependencies({ apiPrefixes: [apiPrefix] }));
    for (const path of found) expect((await prefixed.request(path)).status, path).toBe(200);
    for (const path of missing) expect((await prefixed.request(path)).status, path).toBe(404);
  });

  test.each([
    ['POST', '/blockscout/api/v2/verifier/solidity/sources%3Averify-multi-part'],
    ['POST', '/api/v2/verifier/vyper/sources%3averify-standard-json'],
    ['POST', '/blockscout/api/v2/verifier/solidity/sources%3Abatch-verify-multi-part'],
    ['POST', '/server/blockscout/api/v1/abi/events%3Abatch-get'],
    ['GET', '/%63hains'],
    ['GET', '/chains/eip155%3A1'],
  ])('route needlessly escaped paths like plain ones: %s %s', (method, path) => {
    expect(app.routeOf(method, path)).toBe(
      decodeURIComponent(path)
        .replace('/server', '')
        .replace(/eip155:1/, '{ref}'),
    );
  });

  test('serve a page at the root, or the Etherscan API if its parameters are present', async () => {
    const host = createApiApp(await fixtureDependencies());
    for (const path of ['/', '/server', '/server/']) {
      const answer = await host.request(
        `${path}?module=contract&action=getabi&chainid=1&address=0x`,
      );
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ status: '0', message: 'NOTOK' });
      const page = await host.request(`${path}?module=contract`);
      expect(page.headers.get('content-type')).not.toContain('json');
    }
  });

  test("return 404 in Blockscout's format below the Blockscout verifier", async () => {
    const response = await app.request('/blockscout/api/v2/verifier/fe/sources', {
      method: 'POST',
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      status: 'FAILURE',
      message: expect.stringContaining('/blockscout/api/v2/verifier/fe/sources') as string,
    });
  });

  test('map to route templates as bounded labels', () => {
    expect(app.routeOf('GET', '/chains')).toBe('/chains');
    expect(app.routeOf('HEAD', '/server/chains/')).toBe('/chains');
    expect(app.routeOf('GET', '/server/chains/eip155:1')).toBe('/chains/{ref}');
    expect(app.routeOf('GET', '/server')).toBe('/');
    expect(app.routeOf('GET', '/')).toBe('/');
    expect(app.routeOf('POST', '/chains')).toBeUndefined();
    expect(app.routeOf('GET', '/nothing/here')).toBeUndefined();
  });
});

describe('HTTP methods', () => {
  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'])(
    'rejects %s with an Allow header',
    async (method) => {
      const response = await app.request('/chains', { method });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      expect(((await response.json()) as ProblemBody).code).toBe('method_not_allowed');
    },
  );

  test.each(['/chains', '/server/chains/1', '/health'])(
    'answers an OPTIONS preflight for %s',
    async (path) => {
      const headers = { origin: 'https://example.org', 'access-control-request-method': 'GET' };
      const response = await app.request(path, { method: 'OPTIONS', headers });
      expect(response.status).toBe(204);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
      expect(response.headers.get('access-control-allow-headers')).toContain('Content-Type');
      expect(response.headers.get('access-control-max-age')).toBe('86400');
      expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      expect(await response.text()).toBe('');
    },
  );

  test('HEAD returns the headers of GET and no body', async () => {
    // Pages show relative times, in text of varying length.
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    for (const path of ['/chains', '/chains/1', '/health', '/', '/docs', '/nothing']) {
      const [get, head] = [await app.request(path), await app.request(path, { method: 'HEAD' })];
      expect(head.status, path).toBe(get.status);
      expect(await head.text()).toBe('');
      expect(Object.fromEntries(head.headers), path).toEqual(Object.fromEntries(get.headers));
    }
  });
});

describe('Errors', () => {
  test.each(['/nothing', '/server/nothing', '/chains/1/x', '/%00', '/server/../etc'])(
    '%s returns route_not_found',
    async (path) => {
      expect(await problemAt(path)).toMatchObject({ code: 'route_not_found', status: 404 });
    },
  );

  test('an unpublished document returns not_ready with Retry-After', async () => {
    const early = createCheckedApiApp(await fixtureDependencies({ published: false }));
    const response = await early.request('/chains');
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(((await response.json()) as ProblemBody).code).toBe('not_ready');
  });

  test('a client that refuses every coding gets 406 with the supported codings', async () => {
    const problem = await problemAt('/chains', { headers: { 'accept-encoding': '*;q=0' } });
    expect(problem).toMatchObject({ code: 'not_acceptable', status: 406 });
    expect(problem['codings']).toContain('gzip');
  });

  test('an exception in a dependency returns an internal error without its message', async () => {
    const broken = createCheckedApiApp(
      await fixtureDependencies({
        health: () => {
          throw new Error('the secret is hunter2');
        },
      }),
    );
    const response = await broken.request('/health');
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('hunter2');
  });
});

describe('GET /chains/{ref}', () => {
  test.each(['1', '0x1', 'eip155:1', 'eth', 'Ethereum%20Mainnet'])(
    'finds a chain by %s',
    async (ref) => {
      const response = await app.request(`/chains/${ref}`);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await response.json()).toEqual(FIXTURE_CHAINS[0]);
    },
  );

  test('finds ids beyond 2^31', async () => {
    const response = await app.request(`/chains/${Number.MAX_SAFE_INTEGER}`);
    expect(await response.json()).toMatchObject({ name: 'Far Chain' });
  });

  test.each([
    ['999', 'chain_not_found', 404],
    ['Twin', 'ambiguous_chain_reference', 409],
    ['0', 'invalid_parameter', 400],
    ['9007199254740993', 'invalid_parameter', 400],
    ['x'.repeat(500), 'invalid_parameter', 400],
    ['%3Cscript%3E', 'chain_not_found', 404],
  ])('ref %s returns %s', async (ref, code, status) => {
    expect(await problemAt(`/chains/${ref}`)).toMatchObject({ code, status });
  });
});

describe('Service status endpoints', () => {
  test('GET /health returns 200 in every state', async () => {
    for (const stopping of [false, true]) {
      const response = await (await appWith({ stopping })).request('/health');
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(await response.json()).toMatchObject({ status: stopping ? 'degraded' : 'ok' });
    }
  });

  test('GET /healthz returns the text ok', async () => {
    const response = await app.request('/healthz');
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
  });

  test('GET /readyz returns 200 with stale: true and data ages for a stale list', async () => {
    const failure = { since: new Date('2026-02-03T04:30:00Z'), message: 'known ids vanish' };
    const response = await (await appWith({ listSync: { failure } })).request('/readyz');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      ready: true,
      stale: true,
      ages: { listSeconds: 3599, statisticsConfirmedSeconds: 1 },
    });
  });

  test.each<[Partial<HealthFacts>, string]>([
    [{ documents: { chains: true, statistics: false } }, 'not_ready'],
    [{ database: { reachable: false, checkedAt: new Date(0) } }, 'not_ready'],
    [{ stopping: true }, 'shutting_down'],
  ])('GET /readyz with %j returns 503 %s with its reasons', async (facts, code) => {
    const response = await (await appWith(facts)).request('/readyz');
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    const problem = (await response.json()) as ProblemBody;
    expect(problem).toMatchObject({ code, ready: false, stale: false });
    expect(problem['reasons']).toHaveLength(1);
  });

  test('GET /version returns name, version, Node version, schema and verify mode', async () => {
    const response = await createCheckedApiApp(
      await fixtureDependencies({ schemaVersion: 4 }),
    ).request('/version');
    const { node } = process.versions;
    expect(await response.json()).toEqual({
      ...{ name: 'fullmatch', version: '1.2.3', node, schema: 4 },
      verify: 'open',
    });
  });
});

/** Strips insignificant white space. */
const tidy = (page: string): string =>
  page.replace(/\s+/g, ' ').replace(/> | </g, (edge) => edge.trim());

describe('API documentation page', () => {
  test.each(['/docs', '/docs/', '/server/docs'])(
    '%s contains no scripts and matches the layout of every other page',
    async (path) => {
      const response = await app.request(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const page = await response.text();
      const other = await app.request(path.replace('docs', 'counts'));
      const policy = 'content-security-policy';
      expect(response.headers.get(policy)).toBe(other.headers.get(policy));
      expect(page).not.toMatch(/<script|<style|<img|<iframe|\son\w+=|\sstyle=/i);
      const headerOf = (text: string): string => /<header.*?<\/header>/.exec(text)?.[0] ?? '';
      const timeless = (text: string): string =>
        headerOf(text).replaceAll(/ aria-current="page"|<p class="paper-origin">.*?<\/p>/g, '');
      expect(timeless(page)).toBe(timeless(await other.text()));
    },
  );

  test('/docs is rendered once per URL path', async () => {
    const { deps, made } = countPages(await fixtureDependencies());
    const counted = createCheckedApiApp(deps);
    for (let round = 0; round < 3; round += 1) {
      for (const path of ['/docs', '/docs/', '/server/docs?x=1']) await counted.request(path);
    }
    expect(made()).toBeLessThanOrEqual(3);
  });

  test('/docs lists every documented path, with links that also work under a trailing slash', async () => {
    const page = tidy(await (await app.request('/docs')).text());
    const document = (await (await app.request('/openapi.json')).json()) as {
      paths: Record<string, object>;
    };
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const method of Object.keys(operations)) {
        expect(page).toContain(`${method.toUpperCase()} ${path}</code>`);
      }
    }
    const anchors = [...page.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]);
    for (const anchor of anchors) expect(page).toContain(`id="${anchor!}"`);
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(page).toContain('href="./openapi.json"');
    expect(await (await app.request('/server/docs/')).text()).toContain('href="../openapi.json"');
  });

  test('serves an icon', async () => {
    const response = await app.request('/favicon.ico');
    expect(response.headers.get('content-type')).toBe('image/svg+xml');
  });
});
