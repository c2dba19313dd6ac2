import { expect, test } from 'vitest';
import { Secret } from '../../lib/secret.ts';
import { openExplorerSources } from './explorer-sources.ts';

const ADDRESS = `0x${'11'.repeat(20)}` as const;
const OWN_KEY = 'k3y.own/17';
const CLIENTS_KEY = 'a+client=s "key"';

/** An explorer that echoes everything it was asked, in several spellings. */
const echo = {
  fetch: (url: string) => {
    const key = new URL(url).searchParams.get('apikey') ?? '';
    const spellings = [key, encodeURIComponent(key), JSON.stringify(key), url];
    const body = Buffer.from(`{"result":"Invalid: ${spellings.join(' ')}","text":"ünïcode"}`);
    return Promise.resolve({ status: 200, headers: {}, url, redirects: 0, body });
  },
};
const explorer = openExplorerSources({
  ...{ url: 'https://explorer.test/api', apiKey: new Secret(OWN_KEY), fetch: echo },
});

test.each([
  ['the operator', undefined, OWN_KEY],
  ['the client', new Secret(CLIENTS_KEY), CLIENTS_KEY],
])('redacts the key of %s if the response quotes it', async (_who, given, key) => {
  const text = (await explorer.read(1, ADDRESS, given)).toString();
  expect(text).toContain('Invalid: ***');
  expect(text).toContain('"text":"ünïcode"');
  expect(text).not.toContain(key);
  expect(text).not.toContain(encodeURIComponent(key));
  expect(text).not.toContain(JSON.stringify(key).slice(1, -1));
});

test('rejects a response that repeats the key throughout', async () => {
  const body = Buffer.alloc(16 * 2 ** 20, 'a');
  const answering = openExplorerSources({
    url: 'https://explorer.test/api',
    fetch: {
      fetch: (url: string) =>
        Promise.resolve({ status: 200, headers: {}, url, redirects: 0, body }),
    },
  });
  await expect(answering.read(1, ADDRESS, new Secret('a'))).rejects.toMatchObject({
    code: 'etherscan_request_failed',
  });
});

test.each([
  ['the operator names', { url: 'https://own.test/{chainId}/api' }, 'https://own.test/5/api'],
  ['takes keys of clients', {}, 'https://keys.test/api'],
])("sends a client's key to the explorer that %s", async (_which, named, expected) => {
  const asked: string[] = [];
  const sources = openExplorerSources({
    ...{ clientKeyUrl: 'https://keys.test/api', ...named },
    fetch: {
      fetch: (url: string) => {
        asked.push(url);
        return echo.fetch(url);
      },
    },
  });
  await sources.read(5, ADDRESS, new Secret(CLIENTS_KEY));
  expect(asked.map((url) => url.split('?')[0])).toEqual([expected]);
  const hasUrl = 'url' in named;
  expect([true, false].map((local) => sources.canQuery({ local }, false))).toEqual([
    hasUrl,
    hasUrl,
  ]);
  expect([true, false].map((local) => sources.canQuery({ local }, true))).toEqual([hasUrl, true]);
});

test('queries no explorer if the operator configured none', () => {
  const none = openExplorerSources({ fetch: echo });
  for (const hasKey of [true, false]) expect(none.canQuery({ local: false }, hasKey)).toBe(false);
});
