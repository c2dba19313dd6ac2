import { setImmediate as untilNextTurn } from 'node:timers/promises';
import { CID } from 'multiformats/cid';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { compileInChild, type SolcVersion } from '../../../test/support/compile-in-child.ts';
import {
  type GatewayOptions,
  type IpfsGateway,
  IpfsStore,
  startGateway,
  writeCar,
} from '../../../test/support/ipfs-gateway.ts';
import { startSwarmGateway } from '../../../test/support/swarm-gateway.ts';
import {
  startSocketServer,
  startWebServer,
  type WebServer,
} from '../../../test/support/web-server.ts';
import { readTrailingAuxdata } from '../../bytecode/auxdata.ts';
import { hashMetadata } from '../../bytecode/metadata-hash.ts';
import { createGuardedFetch, type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';
import { readMetadata } from '../../solidity/metadata.ts';
import { createSourceFinder, type FoundSources, type SourceFinder } from './find-sources.ts';
import { type SourceLimits } from './source-limits.ts';

const SOURCES = {
  'src/Token.sol': 'import "./Owned.sol"; contract Token is Owned { uint public x; } // é',
  'src/Owned.sol': 'contract Owned { address public owner = msg.sender; }',
};

interface Compiled {
  readonly metadata: string;
  readonly code: Buffer;
}
interface Output {
  readonly contracts: Record<
    string,
    Record<string, { metadata: string; evm: { deployedBytecode: { object: string } } }>
  >;
}

async function compile(
  version: SolcVersion,
  sources: Readonly<Record<string, string>>,
  metadata: object = {},
): Promise<Compiled> {
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      Object.entries(sources).map(([path, content]) => [path, { content }]),
    ),
    settings: {
      metadata,
      outputSelection: { '*': { '*': ['metadata', 'evm.deployedBytecode.object'] } },
    },
  };
  const [output] = await compileInChild<Output>(version, [input]);
  const contract = output?.contracts['src/Token.sol']?.['Token'];
  if (contract === undefined) throw new Error('solc made no contract');
  return {
    metadata: contract.metadata,
    code: Buffer.from(contract.evm.deployedBytecode.object, 'hex'),
  };
}

/** Returns bytecode whose auxdata names this metadata, as solc would write it. */
function codeOf(metadata: string | Uint8Array): Buffer {
  const hash = typeof metadata === 'string' ? hashMetadata('ipfs', metadata) : metadata;
  const cbor = Buffer.concat([
    Buffer.from('a1', 'hex'),
    Buffer.from('6469706673', 'hex'),
    Buffer.from('58221220', 'hex'),
    hash,
  ]);
  return Buffer.concat([Buffer.from('6080', 'hex'), cbor, Buffer.from([0, cbor.length])]);
}

const keccakOf = (text: string | Uint8Array): Hex => bytesToHex(keccak256(Buffer.from(text)));

/** Returns a metadata document that lists the given sources. */
function metadataWith(sources: object, target = Object.keys(sources)[0] ?? 'A.sol'): string {
  return JSON.stringify({
    language: 'Solidity',
    compiler: { version: '0.8.30+commit.73712a01' },
    settings: { compilationTarget: { [target]: 'A' } },
    sources,
    output: {},
    version: 1,
  });
}

let token: Compiled;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  token = await compile('0.8.30', SOURCES);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

function keep<Server extends { close(): Promise<void> }>(server: Server): Server {
  open.push(server);
  return server;
}

async function gateway(options?: GatewayOptions): Promise<IpfsGateway> {
  return keep(await startGateway(options));
}

/** Starts a gateway with all content of the token. */
async function tokenGateway(options?: GatewayOptions): Promise<IpfsGateway> {
  const started = await gateway(options);
  for (const text of [token.metadata, ...Object.values(SOURCES)])
    started.addFile(Buffer.from(text));
  return started;
}

interface FinderOptions {
  readonly ipfs?: readonly (WebServer | string)[];
  readonly swarm?: readonly WebServer[];
  readonly stored?: readonly string[];
  readonly limits?: Partial<SourceLimits>;
}

function finderOf({
  ipfs = [],
  swarm = [],
  stored = [],
  limits = {},
}: FinderOptions): SourceFinder {
  const fetch: GuardedFetch = keep(
    createGuardedFetch({
      allowPrivate: [...ipfs, ...swarm].flatMap((each) =>
        typeof each === 'string' ? [new URL(each).host] : [each.hostPort],
      ),
      maxBytes: 2 ** 20,
      deadlineMs: 5000,
      maxRedirects: 3,
      userAgent: 'test',
    }),
  );
  const byHash = new Map(stored.map((text) => [keccakOf(text), text]));
  return createSourceFinder({
    fetch,
    ipfsGateways: ipfs.map((each) => (typeof each === 'string' ? each : each.url)),
    swarmGateways: swarm.map(({ url }) => url),
    findStoredSources: async (hashes, maxBytes) => {
      const found = hashes.flatMap((hash) => {
        const text = byHash.get(hash);
        return text === undefined ? [] : [[hash, text] as const];
      });
      const bytes = found.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
      return { bytes, contents: new Map(bytes > maxBytes ? [] : found) };
    },
    limits: { requestMs: 2000, ...limits },
  });
}

const find = (options: FinderOptions, code: Uint8Array = token.code): Promise<FoundSources> =>
  finderOf(options).find(code, { signal: AbortSignal.timeout(60_000) });

const FOUND = { kind: 'found', compilation: { kind: 'metadata', sources: SOURCES } };
const notFound = (reason: string, isFinal: boolean): object => ({
  kind: 'not_found',
  reason,
  isFinal,
});
const detailOf = (found: FoundSources): string => (found.kind === 'not_found' ? found.detail : '');

describe('Sources of solc bytecode', () => {
  test('are found by the hash in its auxdata', async () => {
    const server = await tokenGateway();
    const found = await find({ ipfs: [server] });
    expect(found).toMatchObject({ ...FOUND, from: server.url });
    expect(found.kind === 'found' && found.compilation.metadata).toEqual(
      JSON.parse(token.metadata),
    );
    expect(server.asked).toHaveLength(3);
  });

  test('are read from archives if the gateway has no raw blocks, which is tried once', async () => {
    const server = await tokenGateway({ forms: ['car'] });
    expect(await find({ ipfs: [server] })).toMatchObject(FOUND);
    expect(server.asked.filter((asked) => asked.startsWith('raw'))).toHaveLength(1);
  });

  test.each([
    '',
    '/',
    '/gateway',
    '/gateway/',
    '/gateway/ipfs',
    '/gateway/ipfs/',
    '/gateway?token=a%2Fb',
  ])('are found at a gateway whose URL ends with "%s"', async (ending) => {
    const path = ending.startsWith('/gateway') ? '/gateway' : '';
    const server = await tokenGateway({ path });
    expect(await find({ ipfs: [`${server.url}${ending}`] })).toMatchObject(FOUND);
  });

  test.each([
    ['blocks', ['raw', 'car']],
    ['one archive', ['car']],
  ] as const)('are found as %s if the metadata spans several', async (_what, forms) => {
    const padded = {
      ...SOURCES,
      'src/Token.sol': `${SOURCES['src/Token.sol']} // ${'x'.repeat(600_000)}`,
    };
    const large = await compile('0.8.30', padded, { useLiteralContent: true });
    const server = await gateway({ forms });
    server.addFile(Buffer.from(large.metadata));
    const found = await find({ ipfs: [server] }, large.code);
    expect(found).toMatchObject({ kind: 'found', compilation: { sources: {} } });
    expect(found.kind === 'found' && found.compilation.metadata).toEqual(
      JSON.parse(large.metadata),
    );
    expect(server.asked).toHaveLength(forms[0] === 'raw' ? 4 : 2);
  });

  test('that are already stored are not fetched', async () => {
    const server = await gateway();
    server.addFile(Buffer.from(token.metadata));
    const stored = Object.values(SOURCES);
    expect(await find({ ipfs: [server], stored })).toMatchObject(FOUND);
    expect(server.asked).toHaveLength(1);
  });

  test.each([
    ['0.4.11', 'bytes', 'bzzr0'],
    ['0.4.11', 'bzz-raw', 'bzzr0'],
    ['0.5.17', 'bytes', 'bzzr1'],
    ['0.5.17', 'bzz-raw', 'bzzr1'],
  ] as const)('of solc %s are found on Swarm (%s)', async (version, api, kind) => {
    const sources = { 'src/Token.sol': 'contract Token { address public owner; }' };
    const old = await compile(version, sources);
    const server = keep(await startSwarmGateway(api));
    for (const text of [old.metadata, ...Object.values(sources)]) {
      server.contents.set(Buffer.from(hashMetadata(kind, text)).toString('hex'), Buffer.from(text));
    }
    const found = await find({ swarm: [server] }, old.code);
    expect(found).toMatchObject({ kind: 'found', compilation: { sources }, from: server.url });
    server.contents.forEach((content, hash) =>
      server.contents.set(hash, Buffer.from(`${Buffer.from(content).toString()} `)),
    );
    expect(await find({ swarm: [server] }, old.code)).toMatchObject(
      notFound('metadata_unavailable', false),
    );
  });
});

describe('Gateways', () => {
  test('of the chain are tried before the default ones, each once', async () => {
    const [own, common] = [await tokenGateway(), await tokenGateway()];
    const finder = finderOf({ ipfs: [common, own] });
    const options = { gateways: [own.url, `${own.url}/`], signal: AbortSignal.timeout(60_000) };
    expect(await finder.find(token.code, options)).toMatchObject({ ...FOUND, from: own.url });
    expect(common.asked).toEqual([]);
  });

  test('without a block are skipped, and the successful one is tried first from then on', async () => {
    const [empty, full] = [await gateway(), await tokenGateway()];
    expect(await find({ ipfs: [empty, full] })).toMatchObject({ ...FOUND, from: full.url });
    expect([empty.asked.length, full.asked.length]).toEqual([1, 3]);
  });

  test('with parts of the sources are combined', async () => {
    const [first, second] = [await gateway(), await gateway()];
    first.addFile(Buffer.from(token.metadata));
    first.addFile(Buffer.from(SOURCES['src/Owned.sol']));
    second.addFile(Buffer.from(SOURCES['src/Token.sol']));
    expect(await find({ ipfs: [first, second] })).toMatchObject(FOUND);
  });

  test('without the content are named by their origins only', async () => {
    const server = await gateway();
    const found = await find({
      ipfs: [`${server.url}/secret-path?key=secret-key`, 'http://127.0.0.1:1/secret'],
    });
    expect(found).toMatchObject(notFound('metadata_unavailable', false));
    expect(detailOf(found)).toContain(`${server.url} answers 404.`);
    expect(detailOf(found)).toContain('http://127.0.0.1:1');
    expect(detailOf(found)).not.toContain('secret');
  });

  test('are reported as missing if none is configured', async () => {
    expect(detailOf(await find({}))).toBe('No gateway of IPFS is configured.');
  });

  test.each(['ftp://example.org', 'example.org', 'https://name:secret@example.org', ''])(
    'need an HTTP URL without credentials: %s is rejected without being shown',
    (url) => {
      expect(() => finderOf({ ipfs: [] }) && createFinder([url])).toThrow(TypeError);
      expect(() => createFinder([url])).not.toThrow(/secret|example/);
    },
  );
  function createFinder(ipfsGateways: readonly string[]): SourceFinder {
    return createSourceFinder({ fetch: {} as GuardedFetch, ipfsGateways, swarmGateways: [] });
  }

  test('that return 404, 410 or 504 for unknown content are not paused', async () => {
    for (const status of [404, 410, 504]) {
      let calls = 0;
      const busy = await tokenGateway({
        behave: async ({ response, answer }) => {
          calls += 1;
          if (calls > 8) await answer();
          else {
            response.statusCode = status;
            response.end();
          }
        },
      });
      const finder = finderOf({ ipfs: [busy] });
      const signal = AbortSignal.timeout(60_000);
      for (let round = 0; round < 8; round += 1) {
        expect((await finder.find(token.code, { signal })).kind).toBe('not_found');
      }
      expect(await finder.find(token.code, { signal })).toMatchObject(FOUND);
    }
  });

  test.each([
    [
      'fail',
      (response: { statusCode: number; end: (text?: string) => unknown }) => {
        response.statusCode = 500;
        response.end();
      },
    ],
    [
      'give other content',
      (response: { end: (text?: string) => unknown }) => response.end('<!doctype html>'),
    ],
  ])('that %s are paused after five responses while others are used', async (_what, misbehave) => {
    const bad = await gateway({ behave: ({ response }) => misbehave(response) });
    const good = await tokenGateway();
    const finder = finderOf({ ipfs: [bad, good] });
    for (let round = 0; round < 12; round += 1) {
      const found = await finder.find(token.code, { signal: AbortSignal.timeout(60_000) });
      expect(found).toMatchObject(FOUND);
    }
    expect(bad.asked.length).toBeGreaterThanOrEqual(5);
    expect(bad.asked.length).toBeLessThan(12);
  });

  test('are not paused for trouble caused by authors: oversized content, timeouts, wrong URLs', async () => {
    const swarm = keep(await startSwarmGateway('bytes'));
    swarm.contents.set('1'.repeat(64), Buffer.from('another text'));
    const server = await tokenGateway({
      behave: async ({ cid, answer }) => {
        if (String(cid) !== String(waiting)) await answer();
      },
    });
    const large = server.store.addNode([], { data: Buffer.alloc(3_000_000) });
    const waiting = server.store.addNode([], { data: Buffer.from('waiting') });
    const url = `bzz-raw://${'1'.repeat(64)}`;
    const lying = metadataWith({ 'A.sol': { keccak256: keccakOf('a text'), urls: [url] } });
    server.addFile(Buffer.from(lying));
    const finder = finderOf({ ipfs: [server], swarm: [swarm], limits: { requestMs: 2_000 } });
    const signal = AbortSignal.timeout(60_000);
    for (const hash of [
      large.multihash.digest,
      waiting.multihash.digest,
      hashMetadata('ipfs', lying),
    ]) {
      // Concurrently, so that the timeouts elapse together.
      const rounds = Array.from({ length: 7 }, () => finder.find(codeOf(hash), { signal }));
      const kinds = (await Promise.all(rounds)).map(({ kind }) => kind);
      expect(new Set(kinds)).toEqual(new Set(['not_found']));
    }
    expect(swarm.asked.filter((path) => path.startsWith('/bytes'))).toHaveLength(7);
    expect(await finder.find(token.code, { signal })).toMatchObject(FOUND);
  });

  test('that send Retry-After are left alone', async () => {
    const busy = await gateway({
      behave: ({ response }) => {
        response.writeHead(429, { 'retry-after': '60' }).end();
      },
    });
    const good = await tokenGateway();
    const finder = finderOf({ ipfs: [busy, good] });
    for (let round = 0; round < 3; round += 1) {
      expect(await finder.find(token.code, { signal: AbortSignal.timeout(60_000) })).toMatchObject(
        FOUND,
      );
    }
    expect(busy.asked).toHaveLength(1);
  });
});

describe('Hostile gateway', () => {
  const HTML = '<!doctype html><title>Welcome</title>';
  const behaviours: [string, GatewayOptions['behave']][] = [
    [
      'gives another block',
      ({ response }) => void response.end(Buffer.from('0a0408021800', 'hex')),
    ],
    [
      'gives HTML',
      ({ response }) => void response.writeHead(200, { 'content-type': 'text/html' }).end(HTML),
    ],
    ['gives nothing', ({ response }) => void response.end()],
    ['gives the file instead of its block', ({ response }) => void response.end(token.metadata)],
    ['gives a block of 3 MB', ({ response }) => void response.end(Buffer.alloc(3_000_000))],
    [
      'redirects into the private network',
      ({ response }) => void response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
    ],
    [
      'redirects to itself',
      ({ request, response }) =>
        void response.writeHead(302, { location: request.url ?? '' }).end(),
    ],
    [
      'promises more bytes than it sends',
      ({ response }) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('x');
        response.destroy();
      },
    ],
    ['cuts the connection', ({ response }) => void response.destroy()],
    ['refuses all forms', ({ response }) => void response.writeHead(406).end()],
    ['is forbidden', ({ response }) => void response.writeHead(403).end()],
    [
      'gives an archive without the block',
      async ({ format, response }) => {
        if (format === 'raw') response.statusCode = 400;
        const store = new IpfsStore();
        const cid = store.addBlock(Buffer.from('other'), 'raw');
        response.end(await writeCar(cid, store.walk(cid)));
      },
    ],
    [
      'gives an archive that is cut off',
      async ({ cid, format, response }) => {
        if (format === 'raw') response.statusCode = 415;
        const car = await writeCar(cid, [{ cid, bytes: Buffer.from(token.metadata) }]);
        response.end(car.subarray(0, 120));
      },
    ],
    [
      'gives an archive with other bytes under the CID',
      async ({ cid, format, response }) => {
        if (format === 'raw') response.statusCode = 501;
        response.end(await writeCar(cid, [{ cid, bytes: Buffer.from('{}') }]));
      },
    ],
  ];

  test.each(behaviours)(
    'that %s is skipped and never proves that content is missing',
    async (_what, behave) => {
      const [bad, good] = [await gateway({ behave: behave! }), await tokenGateway()];
      expect(await find({ ipfs: [bad, good] })).toMatchObject({ ...FOUND, from: good.url });
      expect(await find({ ipfs: [bad] })).toMatchObject(notFound('metadata_unavailable', false));
    },
  );

  test('that drips is skipped after the request timeout', async () => {
    const drip = await gateway({
      behave: ({ response }) => {
        const timer = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(timer));
      },
    });
    const good = await tokenGateway();
    const began = performance.now();
    expect(await find({ ipfs: [drip, good], limits: { requestMs: 300 } })).toMatchObject(FOUND);
    expect(performance.now() - began).toBeGreaterThan(290);
    const found = await find({ ipfs: [drip], limits: { requestMs: 300 } });
    expect(detailOf(found)).toContain(`${drip.url} did not respond within 300 ms.`);
  });

  test('that speaks no HTTP is skipped', async () => {
    const noise = keep(
      await startSocketServer((socket) => void socket.end('\0\x01\x02 not HTTP\r\n')),
    );
    expect(await find({ ipfs: [noise, await tokenGateway()] })).toMatchObject(FOUND);
  });

  test('that adds blocks to an archive adds nothing to the sources', async () => {
    const server = await tokenGateway({
      forms: ['car'],
      behave: async ({ cid, format, response, answer }) => {
        if (format === 'raw') return answer();
        const other = new IpfsStore();
        other.addBlock(Buffer.from('more'), 'raw');
        const more = other.walk(other.addBlock(Buffer.from('and more'), 'raw'));
        response.end(await writeCar(cid, [...more, ...server.store.walk(cid), ...more]));
      },
    });
    expect(await find({ ipfs: [server] })).toMatchObject(FOUND);
  });
});

describe('Source search', () => {
  test('ends at its deadline, whatever the gateways do', async () => {
    const silent = await gateway({ behave: () => undefined });
    // The total limit ends the search before any request reaches its own.
    const limits = { totalMs: 300, requestMs: 600_000 };
    const found = await find({ ipfs: [silent, silent], limits });
    expect(found).toMatchObject(notFound('metadata_unavailable', false));
    expect(detailOf(found)).toContain('300 ms');
  });

  test("rejects with the reason of the caller's signal", async () => {
    const stopping = new Error('the service stops');
    const ending = new AbortController();
    const silent = await gateway({ behave: () => ending.abort(stopping) });
    const finding = finderOf({ ipfs: [silent] }).find(token.code, { signal: ending.signal });
    await expect(finding).rejects.toBe(stopping);
    const late = finderOf({ ipfs: [silent] }).find(token.code, { signal: ending.signal });
    await expect(late).rejects.toBe(stopping);
  });

  test.each([
    ['requests', { requests: 2 }, 'More than 2 requests'],
    ['bytes of answers', { answerBytes: 1000 }, 'more than 1000 bytes'],
  ])('stops at its limit of %s', async (_what, limits, detail) => {
    const found = await find({
      ipfs: [await tokenGateway()],
      limits: { ...limits, concurrency: 1 },
    });
    expect(found).toMatchObject(notFound('source_unavailable', false));
    expect(detailOf(found)).toContain(detail);
  });

  test('is final for bytecode without a metadata hash', async () => {
    const none = await compile('0.8.30', SOURCES, { bytecodeHash: 'none' });
    for (const code of [none.code, Buffer.alloc(0), Buffer.from('ef0100', 'hex')]) {
      expect(await find({}, code)).toMatchObject(notFound('no_metadata_hash', true));
    }
  });
});

describe('Metadata with the right hash', () => {
  const source = { keccak256: keccakOf('contract A {}'), content: 'contract A {}' };
  const cases: [string, string | Buffer][] = [
    ['is not JSON', 'contract A {}'],
    ['is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['is no object', '[]'],
    ['has no target', metadataWith({ 'A.sol': source }).replace('compilationTarget', 'target')],
    ['has no compiler', metadataWith({ 'A.sol': source }).replace('compiler', 'maker')],
    ['names a target that is not among the sources', metadataWith({ 'A.sol': source }, 'B.sol')],
    ['lists a source without a hash', metadataWith({ 'A.sol': { content: 'contract A {}' } })],
    ['lists a path with a NUL', metadataWith({ 'A\0.sol': source })],
    ['lists a path of 10,000 bytes', metadataWith({ ['A'.repeat(10_000)]: source })],
    [
      'lists too many sources',
      metadataWith(
        Object.fromEntries(Array.from({ length: 2001 }, (_, index) => [`${index}.sol`, source])),
      ),
    ],
    [
      'nests too deep',
      metadataWith({ 'A.sol': source }).replace(
        '"output":{}',
        `"output":${'['.repeat(100)}${']'.repeat(100)}`,
      ),
    ],
    [
      'holds too many values',
      metadataWith({ 'A.sol': source }).replace(
        '"output":{}',
        `"output":[${'1,'.repeat(200_000)}1]`,
      ),
    ],
    [
      'holds too many escapes',
      metadataWith({ 'A.sol': source }).replace(
        '"output":{}',
        `"output":"${'\\n'.repeat(200_001)}"`,
      ),
    ],
    [
      'is too large',
      metadataWith({ 'A.sol': source }).replace(
        '"output":{}',
        `"output":"${'x'.repeat(2_000_000)}"`,
      ),
    ],
  ];

  test.each(cases)('that %s is a final failure', async (_what, document) => {
    const server = await gateway();
    const cid = server.addFile(Buffer.from(document));
    const [root] = server.store.walk((await import('multiformats/cid')).CID.parse(cid));
    const found = await find({ ipfs: [server] }, codeOf(root!.cid.multihash.digest));
    expect(found).toMatchObject(notFound('metadata_invalid', true));
  });

  test('that is a folder or expands to gigabytes is a final failure', async () => {
    const server = await gateway();
    const folder = server.store.addNode([], { type: 'directory' });
    let bomb = server.store.addNode([], { data: Buffer.alloc(1000) });
    for (let level = 0, fileBytes = 1000; level < 3; level += 1, fileBytes *= 50) {
      bomb = server.store.addNode(Array.from({ length: 50 }, () => ({ cid: bomb, fileBytes })));
    }
    for (const cid of [folder, bomb]) {
      const found = await find({ ipfs: [server] }, codeOf(cid.multihash.digest));
      expect(found).toMatchObject(notFound('metadata_invalid', true));
    }
    expect(server.asked).toHaveLength(2);
  });
});

describe('Source listed in metadata', () => {
  const text = 'contract A {}';
  /** Searches with a gateway that has the metadata and these files. */
  async function findListed(
    sources: (add: (content: string | Uint8Array) => string) => object,
    options: FinderOptions = {},
  ): Promise<{ found: FoundSources; server: IpfsGateway }> {
    const server = await gateway();
    const document = metadataWith(sources((content) => server.addFile(Buffer.from(content))));
    server.addFile(Buffer.from(document));
    return { found: await find({ ipfs: [server], ...options }, codeOf(document)), server };
  }
  const listed = (urls: readonly unknown[], content: string | Uint8Array = text): object => ({
    'A.sol': { keccak256: keccakOf(content), urls },
  });

  test('is found by any of its URLs, skipping useless ones', async () => {
    const { found } = await findListed((add) =>
      listed([
        7,
        'https://example.org/A.sol',
        `bzz-raw://${'1'.repeat(64)}`,
        `dweb:/ipfs/${add('another text')}`,
        'dweb:/ipfs/QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPBdG',
        `ipfs://${add(text)}`,
      ]),
    );
    expect(found).toMatchObject({ compilation: { sources: { 'A.sol': text } } });
  });

  test('is found under a version 1 CID with raw leaves', async () => {
    const server = await gateway();
    const long = `contract A {} // ${'x'.repeat(1000)}`;
    const cid = server.store.addFile(Buffer.from(long), { chunkBytes: 300, rawLeaves: true });
    const document = metadataWith(listed([`dweb:/ipfs/${cid}`], long));
    server.addFile(Buffer.from(document));
    const found = await find({ ipfs: [server] }, codeOf(document));
    expect(found).toMatchObject({ compilation: { sources: { 'A.sol': long } } });
  });

  test('is requested once for many spellings of its CID', async () => {
    const server = await gateway();
    const cid = CID.createV1(
      0x70,
      CID.parse(server.store.addFile(Buffer.from('missing'))).multihash,
    );
    server.store.blocks.clear();
    const names = [cid, cid.toV0()].map(String);
    const urls = names.flatMap((name) => [
      ...[`dweb:/ipfs/${name}`, `dweb://ipfs/${name}`],
      ...[`ipfs://${name}`, `ipfs://ipfs/${name}`],
    ]);
    const document = metadataWith(listed(urls, 'missing'));
    server.addFile(Buffer.from(document));
    const found = await find({ ipfs: [server] }, codeOf(document));
    expect(found).toMatchObject(notFound('source_unavailable', false));
    expect(server.asked).toHaveLength(2);
  });

  test('is never fetched from a web URL', async () => {
    const web = keep(await startWebServer((_request, response) => void response.end(text)));
    const { found } = await findListed(() => listed([`${web.url}/A.sol`]), { swarm: [web] });
    expect(found).toMatchObject(notFound('source_unavailable', false));
    expect(web.connections()).toBe(0);
  });

  test('embedded in the metadata is not fetched unless its hash differs', async () => {
    const { found, server } = await findListed((add) => ({
      'A.sol': { keccak256: keccakOf(text), content: text, urls: [`dweb:/ipfs/${add(text)}`] },
    }));
    expect(found).toMatchObject({ kind: 'found', compilation: { sources: {} } });
    expect(server.asked).toHaveLength(1);
    const other = await findListed((add) => ({
      'A.sol': {
        keccak256: keccakOf(text),
        content: 'contract B {}',
        urls: [`ipfs://${add(text)}`],
      },
    }));
    expect(other.found).toMatchObject({ compilation: { sources: { 'A.sol': text } } });
  });

  test('listed under two paths is fetched once through the URLs of either', async () => {
    const { found, server } = await findListed((add) => ({
      'A.sol': { keccak256: keccakOf(text), urls: [] },
      'B.sol': { keccak256: keccakOf(text), urls: [`ipfs://${add(text)}`] },
      __proto__x: { keccak256: keccakOf(text) },
    }));
    expect(found).toMatchObject({
      compilation: { sources: { 'A.sol': text, 'B.sol': text, __proto__x: text } },
    });
    expect(server.asked).toHaveLength(2);
  });

  test('with the path __proto__ works like any other', async () => {
    const server = await gateway();
    const cid = server.addFile(Buffer.from(text));
    const document = metadataWith({
      'A.sol': { keccak256: keccakOf(text), urls: [`ipfs://${cid}`] },
    }).replaceAll('A.sol', '__proto__');
    server.addFile(Buffer.from(document));
    const found = await find({ ipfs: [server] }, codeOf(document));
    if (found.kind !== 'found') throw new Error(found.detail);
    expect(Object.entries(found.compilation.sources)).toEqual([['__proto__', text]]);
  });

  test.each([
    ['is not UTF-8', Buffer.from([0x2f, 0x2f, 0xff])],
    ['holds a NUL', Buffer.from('//\0')],
  ])('that %s counts as unavailable', async (_what, content) => {
    const { found } = await findListed((add) => listed([`ipfs://${add(content)}`], content));
    expect(found).toMatchObject(notFound('source_unavailable', false));
    expect(detailOf(found)).toContain('UTF-8');
  });

  test('that is missing ends the search and is named in printable form', async () => {
    const { found } = await findListed(() => ({
      'A\u202e.sol': { keccak256: keccakOf(text), urls: [`bzz-raw://${'1'.repeat(64)}`] },
    }));
    expect(found).toMatchObject(notFound('source_unavailable', false));
    expect(detailOf(found)).toContain('The source "A\\u{202e}.sol" was not found.');
    expect(detailOf(found)).toContain('No gateway of Swarm is configured.');
  });

  test.each([
    ['one by one', { 'A.sol': 'x'.repeat(900), 'B.sol': 'y'.repeat(200) }],
    [
      'as one content under many paths',
      Object.fromEntries(
        Array.from({ length: 3 }, (_, index) => [`${index}.sol`, 'x'.repeat(400)]),
      ),
    ],
    ['in one file', { 'A.sol': 'x'.repeat(1100) }],
  ])('and others that are too large %s are a final failure', async (_what, contents) => {
    const limits = { sourceBytes: 1000 };
    const fetched = await findListed(
      (add) =>
        Object.fromEntries(
          Object.entries(contents).map(([path, content]) => [
            path,
            { keccak256: keccakOf(content), urls: [`ipfs://${add(content)}`] },
          ]),
        ),
      { limits },
    );
    expect(fetched.found).toMatchObject(notFound('sources_too_large', true));
    for (const held of ['content', 'stored'] as const) {
      const { found } = await findListed(
        () =>
          Object.fromEntries(
            Object.entries(contents).map(([path, content]) => [
              path,
              { keccak256: keccakOf(content), ...(held === 'content' && { content }) },
            ]),
          ),
        { limits, ...(held === 'stored' && { stored: Object.values(contents) }) },
      );
      if (held === 'content' && Object.keys(contents).length === 1) continue;
      expect(found, held).toMatchObject(notFound('sources_too_large', true));
    }
  });

  test('of 100 is fetched with a concurrency of at most four', async () => {
    const contents = Array.from({ length: 100 }, (_, index) => `contract C${index} {}`);
    let most = 0;
    let now = 0;
    const server = await gateway({
      behave: async ({ answer, response }) => {
        most = Math.max(most, (now += 1));
        response.on('close', () => (now -= 1));
        await untilNextTurn();
        await answer();
      },
    });
    const document = metadataWith(
      Object.fromEntries(
        contents.map((content, index) => [
          `${index}.sol`,
          {
            keccak256: keccakOf(content),
            urls: [`ipfs://${server.addFile(Buffer.from(content))}`],
          },
        ]),
      ),
    );
    server.addFile(Buffer.from(document));
    const found = await find({ ipfs: [server] }, codeOf(document));
    expect(found.kind === 'found' && Object.values(found.compilation.sources)).toEqual(contents);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
  });
});

test("the tests' auxdata equals the output of solc", () => {
  const { metadata, code } = token;
  const hash = readTrailingAuxdata(codeOf(metadata));
  const real = readTrailingAuxdata(code);
  expect(hash?.metadataHash?.kind).toBe(real?.metadataHash?.kind);
  expect(code.includes(Buffer.from(hashMetadata('ipfs', metadata)))).toBe(true);
  expect(readMetadata(JSON.parse(metadata)).sources[0]?.urls).toHaveLength(2);
});
