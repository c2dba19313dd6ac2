import { readdir } from 'node:fs/promises';
import { afterEach, expect, test } from 'vitest';
import { Gate } from '../../../test/support/gate.ts';
import { createTemporaryFolder } from '../../../test/support/temporary-folder.ts';
import { SOLC } from '../toolchains/solc.ts';
import { DownloadSource, type DownloadOptions } from './download-source.ts';

const VERSIONS = ['0.8.19+commit.7dd6d404', '0.8.20+commit.a1b79de6', '0.8.21+commit.d9974bed'];

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

test('a closing source aborts running downloads, starts none and leaves no file', async () => {
  const folder = await createTemporaryFolder();
  closers.push(folder.remove);
  const began: string[] = [];
  const bothBegan = new Gate();
  const download: DownloadOptions['fetch']['download'] = (url, _sink, { signal } = {}) => {
    began.push(url);
    if (began.length === 2) bothBegan.open();
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  };
  const fetch = { download, fetch: () => Promise.reject(new Error('no list is needed')) };
  const options = { baseUrl: 'https://builds.example', directory: folder.path, native: false };
  const source = new DownloadSource({ ...options, fetch }, SOLC);
  const found = VERSIONS.map((version) => source.find(version));
  await bothBegan.opened;
  await source.close();
  expect(began).toHaveLength(2);
  for (const each of await Promise.all(found)) {
    expect(each).toMatchObject({ problem: { code: 'unavailable' } });
  }
  expect(await readdir(folder.path)).toEqual([]);
});
