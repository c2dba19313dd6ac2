import { expect, test } from 'vitest';
import { type Api } from '../../web/src/api.ts';
import { readGiven } from '../../web/src/prefetched-responses.ts';
import { readChains } from '../../web/src/chains/read-chains.ts';
import { type ChainIndex } from '../../web/src/chains/filter-chains.ts';

/** A service with one chain, with these versions of the documents. */
function createService(): { readonly api: Api; versions: Record<string, number> } {
  const service = { versions: { 'v1/registry': 1, 'v1/statistics': 1 } as Record<string, number> };
  const bodyOf = (path: string, version: number): object =>
    path === 'v1/registry'
      ? { list: {}, chains: [{ chainId: 1, name: `One ${version}`, warnings: [] }] }
      : { asOf: '', chains: [countsOf(version)] };
  const countsOf = (full: number): object => ({
    ...{ chainId: 1, full, partial: 0, claimed: { full: 0, partial: 0 }, lastVerifiedAt: null },
  });
  const at = new Date(0).toISOString();
  const api = readGiven({
    find: (path) => {
      const version = service.versions[path] ?? 0;
      const body = new TextEncoder().encode(JSON.stringify(bodyOf(path, version)));
      return { path, at, since: at, status: 200, tag: `"${path} ${version}"`, body };
    },
    miss: (path) => expect.fail(path),
  });
  return Object.assign(service, { api });
}

test('builds all chain rows once per version of the registry and the counts', async () => {
  const service = createService();
  const read = async (): Promise<ChainIndex> => {
    const { index } = await readChains(service.api);
    if (index.state === 'failed') throw new Error(index.message);
    return index.value;
  };
  const first = await read();
  expect(await read()).toBe(first);
  service.versions['v1/statistics'] = 7;
  const second = await read();
  expect(second[0]!.row).toMatchObject({ name: 'One 1', full: 7 });
  expect(await read()).toBe(second);
  service.versions['v1/registry'] = 2;
  expect((await read())[0]!.row).toMatchObject({ name: 'One 2', full: 7 });
});
