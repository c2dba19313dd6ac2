import { type IncomingMessage, type ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Anvil, startAnvil } from '../../../test/support/anvil.ts';
import {
  createDeployer,
  type CreatedContract,
  type Deployer,
} from '../../../test/support/creation-deployments.ts';
import {
  EXPLORER_SAMPLES,
  type ExplorerSample,
  fillPage,
  HOSTILE_PAGE_CHARACTERS,
  makeHostilePages,
} from '../../../test/support/explorer-pages.ts';
import { ANVIL, describeWith } from '../../../test/support/needs.ts';
import { sampleEndpoint } from '../../../test/support/rpc-server.ts';
import { startWebServer, type WebServer } from '../../../test/support/web-server.ts';
import { createGuardedFetch, type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { checksumAddress, type Hex } from '../../lib/hex.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { createRpcClient } from '../rpc/rpc-client.ts';
import { type CreationSearch } from './creation-search.ts';
import { findExplorerHosts } from './explorer-hits.ts';
import { findCreationTransaction } from './find-creation-transaction.ts';

const CHAIN_ID = 424_242;
const TX_REGEX = 'transaction_hash_link" href="/tx/(.*?)"';
const link = (hash: string): string => `<a data-test="transaction_hash_link" href="/tx/${hash}">`;

describeWith([ANVIL], 'the search by an explorer', () => {
  let anvil: Anvil;
  let explorer: WebServer;
  let guarded: GuardedFetch;
  let stranger: GuardedFetch;
  let deployer: Deployer;
  let made: CreatedContract;
  let other: CreatedContract;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  const paths: string[] = [];

  beforeAll(async () => {
    explorer = await startWebServer((request, response) => {
      paths.push(request.url ?? '');
      answer(request, response);
    });
    anvil = await startAnvil({ chainId: CHAIN_ID });
    deployer = await createDeployer(anvil);
    made = await deployer.deploy('factory');
    other = await deployer.deploy('factory');
    const options = {
      maxBytes: 5_000_000,
      deadlineMs: 10_000,
      maxRedirects: 3,
      userAgent: 'fullmatch-test',
      breaker: { failures: 1000 },
    };
    const allowPrivate = [anvil.hostPort, explorer.hostPort];
    guarded = createGuardedFetch({ ...options, allowPrivate });
    stranger = createGuardedFetch({ ...options, allowPrivate: [anvil.hostPort] });
  });
  afterAll(async () => {
    await Promise.all([guarded.close(), stranger.close(), explorer.close()]);
    await anvil.stop();
  });
  afterEach(() => {
    paths.length = 0;
  });

  function search(
    record: { readonly contractFetchAddress?: string; readonly txRegex?: string } = {
      contractFetchAddress: `${explorer.url}/address/\${ADDRESS}/transactions`,
      txRegex: TX_REGEX,
    },
    fetch = guarded,
  ): Promise<CreationSearch> {
    const chain = {
      record: { chainId: CHAIN_ID, ...record },
      local: true,
      endpoints: [sampleEndpoint(anvil.url)],
    };
    const rpc = createRpcClient({ fetch: guarded, attempts: 1 });
    return findCreationTransaction({ rpc, fetch }, chain, made.address, {
      methods: ['explorer_page'],
    });
  }
  const show = (body: string | Buffer, headers: Record<string, string> = {}, status = 200) => {
    answer = (_request, response) => {
      response.writeHead(status, { 'content-type': 'text/html', ...headers });
      response.end(body);
    };
  };
  const page = (hash: Hex): string => `<html>${link(hash)}</html>`;

  test.each(EXPLORER_SAMPLES)('finds the creation on a page of $explorer', async (sample) => {
    show(fillPage(sample, made.address, made.transactionHash));
    const { contractFetchAddress, txRegex }: ExplorerSample = sample;
    const { pathname, search: query } = new URL(contractFetchAddress);
    const found = await search({
      contractFetchAddress: `${explorer.url}${decodeURI(pathname)}${query}`,
      ...(txRegex !== undefined && { txRegex }),
    });
    expect(found.creation).toMatchObject({ transactionHash: made.transactionHash });
    expect(found.methods).toMatchObject([{ method: 'explorer_page', outcome: 'found' }]);
    expect(paths).toHaveLength(1);
    expect(paths[0]).toContain(checksumAddress(made.address));
  });

  test("reads compressed pages and follows the explorer's redirects", async () => {
    const body = page(made.transactionHash);
    show(gzipSync(body), { 'content-encoding': 'gzip' });
    expect((await search()).methods).toMatchObject([{ outcome: 'found' }]);
    show(brotliCompressSync(body), { 'content-encoding': 'br' });
    expect((await search()).methods).toMatchObject([{ outcome: 'found' }]);
    answer = (request, response) => {
      const moved = request.url !== '/moved';
      response.writeHead(moved ? 302 : 200, moved ? { location: '/moved' } : {});
      response.end(moved ? '' : body);
    };
    expect((await search()).methods).toMatchObject([{ outcome: 'found' }]);
  });

  test("rejects an explorer's claim of a wrong transaction", async () => {
    show(page(other.transactionHash));
    const lied = await search();
    expect(lied).not.toHaveProperty('creation');
    expect(lied.methods).toMatchObject([
      { outcome: 'created_nothing_here', transactionHash: other.transactionHash },
    ]);
    show(page(`0x${'ab'.repeat(32)}`));
    expect((await search()).methods).toMatchObject([{ outcome: 'transaction_not_found' }]);
  });

  test('tries further hits on the page, up to three', async () => {
    const wrong = [1, 2, 3].map((digit): Hex => `0x${String(digit).repeat(64)}`);
    const pageOf = (hashes: readonly Hex[]): string => hashes.map(link).join('\n');
    show(pageOf([...wrong.slice(0, 2), made.transactionHash]));
    expect((await search()).creation?.transactionHash).toBe(made.transactionHash);
    show(pageOf([...wrong, made.transactionHash]));
    expect((await search()).methods).toMatchObject([{ outcome: 'transaction_not_found' }]);
  });

  test.each([
    ['no hash at all', '<html>No such contract</html>'],
    ['a hit of another shape', link('0x12')],
    ['a hash elsewhere', `<p>0x${'ab'.repeat(32)}</p>`],
    ['nothing', ''],
  ])('finds no hit on a page with %s', async (_title, body) => {
    show(body);
    expect((await search()).methods).toMatchObject([{ outcome: 'no_hit' }]);
  });

  test.each(Object.entries(makeHostilePages(TX_REGEX, HOSTILE_PAGE_CHARACTERS / 3)))(
    'terminates on a hostile page: %s',
    async (_name, body) => {
      show(body);
      const { methods } = await search();
      expect(['no_hit', 'transaction_not_found']).toContain(methods[0]?.outcome);
    },
  );

  test.each([
    ['404', 404, 'status_404'],
    ['403', 403, 'status_403'],
    ['500', 500, 'status_500'],
    ['204', 204, 'no_hit'],
  ])('reports a response with status %s', async (_title, status, detail) => {
    show(status === 204 ? '' : page(made.transactionHash), {}, status);
    const { methods } = await search();
    expect(methods[0]?.detail).toBe(`${explorer.url}: ${detail}`);
  });

  test('rejects a page over a megabyte, before and after decompression', async () => {
    const large = `${page(made.transactionHash)}${'x'.repeat(1_000_000)}`;
    const bodies = [[large, {}], ...COMPRESSED] as const;
    for (const [body, headers] of bodies) {
      show(body, headers);
      const { methods } = await search();
      expect(methods).toMatchObject([{ outcome: 'page_unavailable' }]);
      expect(methods[0]?.detail).toBe(`${explorer.url}: response_too_large`);
    }
  });

  test('accepts a page of exactly a megabyte', async () => {
    const body = page(made.transactionHash);
    show(`${'x'.repeat(1_000_000 - body.length)}${body}`);
    expect((await search()).methods).toMatchObject([{ outcome: 'found' }]);
  });

  test('never connects to a private address that the operator did not configure', async () => {
    const before = explorer.connections();
    const refused = await search(undefined, stranger);
    expect(refused.methods[0]?.detail).toBe(`${explorer.url}: address_not_allowed`);
    for (const host of ['localhost', '127.1', '[::ffff:127.0.0.1]', '0x7f000001']) {
      const contractFetchAddress = `http://${host}:${explorer.port}/\${ADDRESS}`;
      const { methods } = await search({ contractFetchAddress, txRegex: TX_REGEX }, stranger);
      expect(methods).toMatchObject([{ outcome: 'page_unavailable' }]);
    }
    expect(explorer.connections()).toBe(before);
  });

  test('does not follow a redirect to a private address', async () => {
    const canary = await startWebServer((_request, response) =>
      response.end(page(made.transactionHash)),
    );
    show('', { location: `${canary.url}/` }, 302);
    const { methods } = await search();
    expect(methods).toMatchObject([{ outcome: 'page_unavailable' }]);
    expect(methods[0]?.detail).toContain('address_not_allowed');
    expect(canary.connections()).toBe(0);
    await canary.close();
  });

  test('reports not_configured for a chain without an explorer page', async () => {
    expect((await search({})).methods).toMatchObject([{ outcome: 'not_configured' }]);
    expect((await search({ txRegex: TX_REGEX })).methods).toMatchObject([
      { outcome: 'not_configured' },
    ]);
  });
});

/** Built before connecting: the event loop is blocked for seconds meanwhile. */
const COMPRESSED = [
  [gzipSync(Buffer.alloc(50_000_000, 'a page ')), { 'content-encoding': 'gzip' }],
  [brotliCompressSync(Buffer.alloc(50_000_000, 'x')), { 'content-encoding': 'br' }],
] as const;

describe('Explorers allowed to have private addresses', () => {
  test('are only those configured by the operator', () => {
    const chainOf = (contractFetchAddress: string | undefined, origin: string): RegisteredChain =>
      ({
        record: { ...(contractFetchAddress && { contractFetchAddress }) },
        origins: { contractFetchAddress: origin },
      }) as unknown as RegisteredChain;
    expect(
      findExplorerHosts([
        chainOf('http://10.0.0.7:4000/address/${ADDRESS}', 'configuration'),
        chainOf('http://10.0.0.7:4000/${ADDRESS}', 'configuration'),
        chainOf('https://explorer.example/?a=${ADDRESS}', 'configuration'),
        chainOf('https://default.example/${ADDRESS}', 'default configuration'),
        chainOf(undefined, 'configuration'),
      ]),
    ).toEqual(['10.0.0.7:4000', 'explorer.example:443']);
  });
});
