import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createCheckedApiApp } from '../../../../test/support/wire/checked-answers.ts';
import { MONITOR, registryOf } from '../../../../test/support/chain-sources.ts';
import { fixtureDependencies } from '../../../../test/support/http-fixture.ts';
import { createTemporaryFolder } from '../../../../test/support/temporary-folder.ts';
import { openIcons } from '../../../chains/registry/chain-icons.ts';
import { reportUnprobed } from '../../../chains/health/health-report.ts';
import { Secret } from '../../../lib/secret.ts';
import { type HostApp } from '../../host-app.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';

const SECRET = 'https://rpc.example/correct-horse-battery-staple-4711';

const registry = registryOf({
  list: [
    { chainId: 1, name: 'One Mainnet', rpc: ['https://one.example'], shortName: 'one', icon: 'o' },
    { chainId: 5, name: 'Fünf Testnet', rpc: [], icon: '../secret' },
    { chainId: 9, name: 'Nine', rpc: ['https://nine.example'], redFlags: ['reusedChainId'] },
    { chainId: 10, name: 'Ten', rpc: [], status: 'deprecated' },
  ],
  configured: [
    { chainId: 1, privateRpc: [new Secret(SECRET)], monitor: MONITOR },
    { chainId: 9, name: 'Quite another chain' },
  ],
  watched: [1],
});

let temporary: Awaited<ReturnType<typeof createTemporaryFolder>>;
let app: HostApp;
beforeAll(async () => {
  temporary = await createTemporaryFolder();
  const icons = path.join(temporary.path, 'icons');
  await mkdir(icons);
  await writeFile(path.join(temporary.path, 'secret.svg'), 'secret');
  await writeFile(path.join(icons, 'o.svg'), '<svg onload="alert(1)"/>');
  const opened = await openIcons(icons);
  const overrides = { registry: () => registry, icons: () => opened };
  app = createCheckedApiApp(await fixtureDependencies(overrides));
});
afterAll(() => temporary.remove());

interface Page {
  readonly total: number;
  readonly matching: number;
  readonly next?: number;
  readonly results: readonly { readonly chainId: number }[];
}
const search = async (query: string): Promise<Page> => {
  const response = await app.request(`/v1/chains${query}`);
  expect(response.status, query).toBe(200);
  return (await response.json()) as Page;
};

describe('GET /v1/chains', () => {
  test.each([
    ['', [1, 5, 9, 10]],
    ['?supported=true', [1, 9]],
    ['?supported=false&monitored=false', [5, 10]],
    ['?testnet=true', [5]],
    ['?status=active', [1, 5, 9]],
    ['?status=deprecated', [10]],
    ['?q=FUNF', [5]],
    ['?q=F%C3%BCnf+testnet', [5]],
    ['?q=', [1, 5, 9, 10]],
    ['?q=nothing+is+called+so', []],
    ['?after=5', [9, 10]],
    ['?after=9007199254740991', []],
    ['?colour=red', [1, 5, 9, 10]],
  ])('%s finds %j', async (query, ids) => {
    const page = await search(query);
    expect(page.results.map(({ chainId }) => chainId)).toEqual(ids);
    expect(page.total).toBe(4);
  });

  test('continues after the previous page, also under the prefix', async () => {
    const first = await search('?limit=3');
    expect(first).toMatchObject({ matching: 4, next: 9 });
    const second = (await (
      await app.request(`/server/v1/chains?limit=3&after=${first.next}`)
    ).json()) as Page;
    expect(second.results).toMatchObject([{ chainId: 10 }]);
    expect(second.next).toBeUndefined();
  });

  test('returns whole records, or the requested fields and the id', async () => {
    expect((await search('')).results).toEqual(registry.chains.map(({ record }) => record));
    const many = Array.from({ length: 2_000 }, () => 'name').join(',');
    expect(await search(`?fields=${many}&limit=1`)).toEqual(await search('?fields=name&limit=1'));
    expect((await search('?fields=supported,name&limit=1')).results).toEqual([
      { name: 'One Mainnet', chainId: 1, supported: true },
    ]);
  });

  test.each([
    '?supported=yes',
    '?testnet=',
    '?status=dead',
    '?limit=0',
    '?limit=1001',
    '?limit=1e2',
    '?after=-1',
    '?after=9007199254740992',
    '?fields=',
    '?fields=name,secret',
    '?fields=__proto__',
    `?q=${'x'.repeat(101)}`,
  ])('rejects %s as an invalid parameter', async (query) => {
    const response = await app.request(`/v1/chains${query}`);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ code: 'invalid_parameter' });
  });
});

describe('GET /v1/chains/{ref}', () => {
  test('returns the origin of each field and numbers private endpoints', async () => {
    const response = await app.request('/v1/chains/one');
    const text = await response.text();
    const details = JSON.parse(text) as { record: object; origins: object };
    expect(details).toMatchObject({
      record: { chainId: 1 },
      testnet: false,
      local: false,
      hasIcon: true,
      origins: { name: 'list', monitored: 'configuration', network: 'derived' },
      endpoints: [
        { label: 'private-1', public: false },
        { label: 'one.example', public: true },
      ],
      list: { source: 'test', sha256: registry.listSha256 },
    });
    expect(Object.keys(details.origins).sort()).toEqual(Object.keys(details.record).sort());
    expect(text).not.toContain('correct-horse');
  });

  test('includes the conflicts of this chain only', async () => {
    const findings = async (ref: string) =>
      ((await (await app.request(`/v1/chains/${ref}`)).json()) as { findings: object[] }).findings;
    expect(await findings('9')).toContainEqual(
      expect.objectContaining({ level: 'warning', code: 'reused_chain_id', field: 'name' }),
    );
    expect(JSON.stringify(await findings('1'))).not.toContain('reused_chain_id');
  });

  test.each([
    ['999', 'chain_not_found', 404],
    ['0', 'invalid_parameter', 400],
    ['%3Cscript%3E', 'chain_not_found', 404],
  ])('ref %s returns %s', async (ref, code, status) => {
    for (const path of [`/v1/chains/${ref}`, `/v1/chains/${ref}/icon`]) {
      const response = await app.request(path);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(await response.json()).toMatchObject({ code, status });
    }
  });
});

describe('GET /v1/chains/{ref}/icon', () => {
  test('returns the image with headers that keep browsers from running it', async () => {
    const response = await app.request('/v1/chains/1/icon');
    expect(await response.text()).toBe('<svg onload="alert(1)"/>');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'access-control-allow-origin': '*',
    });
    const headers = { 'if-none-match': response.headers.get('etag') ?? '' };
    const again = await app.request('/v1/chains/1/icon', { headers });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test.each(['5', '9'])(
    'returns 404 for chain %s despite the icon name in its record',
    async (ref) => {
      const response = await app.request(`/v1/chains/${ref}/icon`);
      expect(await response.json()).toMatchObject({ code: 'icon_not_found', status: 404 });
    },
  );
});

describe('GET /v1/registry', () => {
  test('summarizes every chain, with warnings and findings', async () => {
    const response = await app.request('/v1/registry');
    const { list, chains } = (await response.json()) as {
      list: { source: string; sha256: string };
      chains: readonly { chainId: number }[];
    };
    expect(list).toEqual({ source: registry.listSource, sha256: registry.listSha256 });
    expect(chains.map(({ chainId }) => chainId)).toEqual([1, 5, 9, 10]);
    const common = { supported: false, monitored: false, testnet: false, warnings: [] };
    expect(chains).toMatchObject([
      {
        ...common,
        ...{ name: 'One Mainnet', shortName: 'one', supported: true, monitored: true },
        hasIcon: true,
      },
      { ...common, name: 'Fünf Testnet', testnet: true },
      {
        name: 'Quite another chain',
        supported: true,
        warnings: ['reused_chain_id', 'supported_chain_without_endpoint'],
      },
      { ...common, name: 'Ten', status: 'deprecated' },
    ]);
    expect(chains.filter((chain) => 'hasIcon' in chain)).toHaveLength(1);
    expect(JSON.stringify(chains)).not.toContain(SECRET);
  });

  test('includes health for probed chains only and changes its ETag with it', async () => {
    let state: 'up' | 'down' = 'up';
    const chainHealth: HttpDependencies['chainHealth'] = {
      report: (chain) => reportUnprobed(chain, 'not_configured'),
      reports: () => [],
      states: () => new Map([[9, state]]),
    };
    const watched = createCheckedApiApp(
      await fixtureDependencies({ registry: () => registry, chainHealth }),
    );
    const read = async (): Promise<{ tag: string | null; health: unknown[] }> => {
      const response = await watched.request('/v1/registry');
      const { chains } = (await response.json()) as { chains: { health?: string }[] };
      return { tag: response.headers.get('etag'), health: chains.map(({ health }) => health) };
    };
    const before = await read();
    expect(before.health).toEqual([undefined, undefined, 'up', undefined]);
    expect(await read()).toEqual(before);
    state = 'down';
    const after = await read();
    expect(after.health).toEqual([undefined, undefined, 'down', undefined]);
    expect(after.tag).not.toBe(before.tag);
  });

  test('returns 200 for a change within the second of If-Modified-Since', async () => {
    let current = registry;
    const reloaded = createCheckedApiApp(await fixtureDependencies({ registry: () => current }));
    const modifiedOf = async (): Promise<string> =>
      (await reloaded.request('/v1/registry')).headers.get('last-modified') ?? '';
    const held = await modifiedOf();
    current = { ...registry, listSha256: 'ab'.repeat(32) };
    const headers = { 'if-modified-since': held };
    // A second may pass in between; then the date distinguishes the two responses.
    expect((await reloaded.request('/v1/registry', { headers })).status).toBe(200);
  });
});
