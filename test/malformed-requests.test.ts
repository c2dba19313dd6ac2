// No request causes a 5xx response or a logged error: every parameter of every route and every body,
// malformed.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { checksumAddress, type Hex } from '../src/lib/hex.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { waitUntil } from './support/wait-for.ts';
import { countRequestsOf } from './support/count-requests.ts';

interface Cases {
  readonly values: readonly string[];
}
const { values } = JSON.parse(
  readFileSync(new URL('./cases/hostile-values.json', import.meta.url), 'utf8'),
) as Cases;

const CHAIN = 1;
const KNOWN = sampleAddress(1);
/** Pages and searches over two thousand chains take longer and parse their parameters in the same way. */
const FEW_CHAINS = `
registry: { include: configured, defaults: false }
health: { enabled: false }
chains:
  1: { name: First, rpc: ['https://rpc.example.org'] }
  2: { name: Second, supported: false }
`;

let testDatabase: TestDatabase;
let service: BootedService;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  await saveMatches(testDatabase.database, [
    sampleContract(CHAIN, KNOWN, { runtimeMatch: 'full' }),
  ]);
  service = await bootService({ databaseUrl: testDatabase.url, yaml: FEW_CHAINS });
});
afterAll(async () => {
  agent.destroy();
  await service.close();
  await testDatabase.drop();
});

interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

/** Sends a path unchanged: `fetch` would normalize it. */
function send(base: string, path: string, { method = 'GET', headers = {}, body }: Sent = {}) {
  const { hostname, port } = new URL(base);
  return new Promise<Answer>((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, agent }, (answer) => {
      const parts: Buffer[] = [];
      const done = (): void =>
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString() });
      if (answer.headers['content-type'] === 'text/event-stream') {
        answer.destroy();
        done();
      }
      answer.on('data', (part: Buffer) => parts.push(part)).on('end', done);
    });
    sent.on('error', reject).end(body);
  });
}

/** Logged when statements take seconds, which may happen to any request on a busy machine. */
const OF_A_SLOW_DATABASE = ['store_troubled', 'store_sound', 'database_hangs'];
let seen = 0;
/** Returns the warnings and errors logged since the previous call, except those of a slow database. */
function complaints(): readonly string[] {
  const text = service.logText();
  const from = seen;
  seen = text.length;
  return text
    .slice(from)
    .split('\n')
    .filter((line) => {
      if (line === '') return false;
      const { level, event } = JSON.parse(line) as { level: number; event?: string };
      return level >= 40 && !OF_A_SLOW_DATABASE.includes(event ?? '');
    });
}

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

let turn = 0;
/** A third of the values; neighbouring parameters get the others. */
function some(): readonly string[] {
  turn += 1;
  return values.filter((_, index) => (index + turn) % 3 === 0);
}

/** Every path of a host with each parameter set to some of the values and the others valid. */
function* hostilePaths(paths: Readonly<Record<string, { get?: Operation }>>): Generator<string> {
  const good: Readonly<Record<string, string>> = {
    chainId: String(CHAIN),
    address: KNOWN,
    ref: '1',
    q: 'Token',
    matchFolder: 'full_match',
    path: 'metadata.json',
    addresses: KNOWN,
    chainIds: '1',
    verificationId: '00000000-0000-4000-8000-000000000000',
  };
  const fill = (template: string, name?: string, value = ''): string =>
    template.replaceAll(/\{(\w+)\}/g, (_, each: string) =>
      each === name ? value : (good[each] ?? 'x'),
    );
  for (const [template, { get }] of Object.entries(paths)) {
    if (get === undefined || template === '/v1/events') continue;
    const parameters = get.parameters ?? [];
    const queries = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
    const required = queries.filter((name) => good[name] !== undefined);
    const query = (skip?: string): string =>
      required
        .filter((name) => name !== skip)
        .map((name) => `${name}=${good[name]}`)
        .join('&');
    for (const [, name = ''] of template.matchAll(/\{(\w+)\}/g)) {
      for (const value of some()) yield `${fill(template, name, value)}?${query()}`;
    }
    for (const name of queries) {
      const base = `${fill(template)}?${query(name)}`;
      for (const value of some()) yield `${base}&${name}=${value}`;
    }
    for (const name of queries) {
      const base = `${fill(template)}?${query(name)}`;
      for (const text of [`${name}=1&${name}=x`, `${name}[]=1`, `${name}[a]=1`, name]) {
        yield `${base}&${text}`;
      }
    }
  }
}

async function failuresOf(base: string, paths: Iterable<string>): Promise<readonly string[]> {
  const failures: string[] = [];
  const waiting = [...paths];
  const ask = async (): Promise<void> => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const { status } = await send(base, path);
      // A page whose parts take more than three seconds on a busy machine returns 503.
      if (status >= 500 && status !== 503) failures.push(`${status} ${path}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, ask));
  return failures;
}

test.each([
  ['/nothing/%FF', 'code'],
  ['/v1/contracts?%FF=%FF', 'code'],
  ['/v1/contracts/search?q=100%', 'code'],
  ['/chains/a%C3', 'code'],
  ['/v2/contract/1/0x?fields=%ZZ', 'customCode'],
])(
  'a %% that starts no valid UTF-8 escape is rejected before decoding: %s',
  async (path, member) => {
    for (const accept of ['application/json', 'text/html']) {
      const { status, body } = await send(service.apiUrl, path, { headers: { accept } });
      expect(status).toBe(400);
      expect(JSON.parse(body)).toMatchObject({ [member]: 'malformed_request' });
    }
  },
);

describe('a hostile value', () => {
  test('in any parameter of the API host is a client error', async () => {
    const { body } = await send(service.apiUrl, '/openapi.json');
    const { paths } = JSON.parse(body) as { paths: Record<string, { get?: Operation }> };
    expect(await failuresOf(service.apiUrl, hostilePaths(paths))).toEqual([]);
    expect(complaints()).toEqual([]);
  });

  test('in any page, in the tree and in headers is a client error', async () => {
    const pages = values.flatMap((value) => [
      `/contract/1/${value}`,
      `/contract/${value}/${KNOWN}`,
      `/contract/1/${KNOWN}?file=${value}&tab=${value}`,
      `/job/${value}`,
      `/chain/${value}`,
      `/contracts?q=${value}&chain=${value}&after=${value}`,
      `/statistics?chain=${value}&from=${value}&to=${value}&interval=${value}`,
      `/registry?q=${value}&after=${value}`,
      `/verify?chain=${value}&address=${value}`,
      `/${value}`,
    ]);
    expect(await failuresOf(service.apiUrl, pages)).toEqual([]);
    const tree = values.flatMap((value) => [
      `/contracts/full_match/1/${checksumAddress(KNOWN)}/${value}`,
      `/contracts/full_match/1/${KNOWN}/sources/${value}`,
      `/contracts/full_match/1/${value}/metadata.json`,
      `/contracts/full_match/${value}/${KNOWN}/metadata.json`,
      `/contracts/${value}/1/${KNOWN}/metadata.json`,
    ]);
    expect(await failuresOf(service.repositoryUrl, tree)).toEqual([]);
    for (const name of ['if-none-match', 'if-modified-since', 'accept-encoding', 'last-event-id']) {
      for (const value of values.map(decodeLoosely)) {
        const headers = { [name]: value };
        for (const path of ['/chains', '/v1/statistics', '/v1/events']) {
          expect((await send(service.apiUrl, path, { headers })).status).toBeLessThan(500);
        }
      }
    }
    expect(complaints()).toEqual([]);
  });
});

/** A header may contain these characters. */
function decodeLoosely(value: string): string {
  return value.replaceAll(/[^\x20-\x7e]/g, '');
}

const V2 = `/v2/verify/1/${KNOWN}`;
const METADATA = `/v2/verify/metadata/1/${KNOWN}`;
const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const metadataFile = (more: object = {}): string =>
  JSON.stringify({
    compiler: { version: '0.8.37+commit.00000000' },
    language: 'Solidity',
    settings: { compilationTarget: { 'a.sol': 'A' } },
    sources: { 'a.sol': { keccak256: '0x00' } },
    ...more,
  });
const v1 = (more: object): string =>
  JSON.stringify({ chain: '1', address: KNOWN, files: { 'm.json': metadataFile() }, ...more });
const form = (body: string): Sent => ({
  method: 'POST',
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
  body,
});
const part = (name: string, value: string, file?: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}\r\n\r\n${value}\r\n`;
const post = (body: string | Buffer, headers: Sent['headers'] = {}): Sent => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body,
});
const wrongChecksum = checksumAddress(sampleAddress(0xabcdef)).replace(/[a-f]/, (letter) =>
  letter.toUpperCase(),
) as Hex;

const BODIES: readonly (readonly [about: string, path: string, sent: Sent, status: number])[] = [
  ['nothing', V2, post(''), 400],
  ['a NUL', V2, post('\0'), 400],
  ['null', V2, post('null'), 400],
  ['an array', V2, post('[]'), 400],
  ['a lone surrogate', V2, post('{"stdJsonInput":"\\ud800"}'), 400],
  ['bytes that are not UTF-8', V2, post(Buffer.from([0x7b, 0xff, 0xfe, 0x7d])), 400],
  ['a number beyond doubles', V2, post('{"stdJsonInput":1e999}'), 400],
  ['__proto__ as the only key', V2, post('{"__proto__":{"stdJsonInput":{}}}'), 400],
  ['64 levels', V2, post(deep(64)), 400],
  ['65 levels', V2, post(deep(65)), 400],
  ['5,000 levels', METADATA, post(deep(5000)), 400],
  ['200,001 values', V2, post(`[${'1,'.repeat(199_999)}1]`), 413],
  ['2,001 sources', V2, post(manySources(2001)), 413],
  ['2,001 sources of metadata', METADATA, post(manySources(2001)), 413],
  ['a compressed body', V2, post('x', { 'content-encoding': 'gzip' }), 415],
  ['an unsupported media type', V2, post('{}', { 'content-type': 'text/\u00e9' }), 400],
  ['a wrong checksum', `/v2/verify/1/${wrongChecksum}`, post('{}'), 400],
  ['v1: an object as the chain', '/verify', post(v1({ chain: { toString: 1 } })), 400],
  ['v1: an array as the chain', '/verify', post(v1({ chain: ['1'] })), 400],
  ['v1: an object as the address', '/verify', post(v1({ address: { toString: null } })), 400],
  ['v1: a wrong checksum', '/verify', post(v1({ address: wrongChecksum })), 400],
  ['v1: a list as the files', '/verify', post(v1({ files: ['x'] })), 400],
  ['v1: null as a file', '/verify', post(v1({ files: { a: null } })), 400],
  [
    'v1: an object as the chosen contract',
    '/verify',
    post(v1({ chosenContract: { valueOf: 1 } })),
    400,
  ],
  ['v1: a chosen contract beyond the last', '/verify', post(v1({ chosenContract: 2 ** 60 })), 400],
  ['v1: a deeply nested file', '/verify', post(v1({ files: { 'm.json': deep(5000) } })), 400],
  [
    'v1: deeply nested settings',
    '/',
    post(v1({ files: { m: metadataFile({ output: JSON.parse(deep(4000)) as object }) } })),
    400,
  ],
  [
    'v1: a form without a boundary',
    '/verify',
    post('x', { 'content-type': 'multipart/form-data' }),
    400,
  ],
  ['v1: a different boundary', '/verify', form('--c\r\n\r\n--c--'), 400],
  ['v1: an unfinished form', '/verify', form('--b\r\nContent-Dispo'), 400],
  ['v1: an empty form', '/verify', form('--b--\r\n'), 400],
  ['v1: a form of text', '/verify', form(`${part('chain', '1')}--b--\r\n`), 400],
  [
    'v1: a form of 3,000 files',
    '/verify',
    form(`${part('files', '', 'a').repeat(3000)}--b--\r\n`),
    413,
  ],
  [
    'v1: an urlencoded form',
    '/verify',
    post('chain=1&address=%00', { 'content-type': 'application/x-www-form-urlencoded' }),
    400,
  ],
];

function manySources(count: number): string {
  const names = Array.from({ length: count }, (_, index) => `${index}.sol`);
  const sources = Object.fromEntries(names.map((name) => [name, { content: '' }]));
  return JSON.stringify({
    stdJsonInput: { language: 'Solidity', sources, settings: {} },
    compilerVersion: '0.8.37',
    contractIdentifier: '0.sol:A',
    metadata: { sources },
    sources: { a: 'x' },
  });
}

describe('a malformed body', () => {
  test.each(BODIES)('is rejected: %s', async (_about, path, sent, status) => {
    const answer = await send(service.apiUrl, path, sent);
    expect([answer.status, answer.body]).toEqual([status, expect.any(String) as string]);
    expect(complaints()).toEqual([]);
  });

  test.each([V2, METADATA, '/verify', '/'])('for %s is buffered only once', async (path) => {
    // A web stream of the request would buffer everything that its reader takes a second time, without any
    // limit.
    const secondReader = vi.spyOn(Readable, 'toWeb');
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(' '.repeat(300_000));
    const answer = await fetch(`${service.apiUrl}${path}`, { method: 'POST', headers, body });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(secondReader).not.toHaveBeenCalled();
    secondReader.mockRestore();
  });

  test('that the client does not finish sending is no service error', async () => {
    const { hostname, port } = new URL(service.apiUrl);
    for (const path of [V2, METADATA, '/verify', '/']) {
      for (const length of [0, 1, 100_000]) {
        const arrivals = countRequestsOf(path);
        const headers = { 'content-length': 200_000, 'content-type': 'application/json' };
        const sent = request({ hostname, port, path, method: 'POST', headers });
        const closed = new Promise<void>((resolve) => sent.on('close', resolve));
        sent.on('error', () => undefined);
        sent.write(Buffer.alloc(length, ' '));
        sent.flushHeaders();
        await waitUntil(() => arrivals.count() > 0);
        sent.destroy();
        await closed;
        arrivals.stop();
        // Its response arrives later, so the aborted request has been handled.
        await send(service.apiUrl, path, { method: 'POST', headers: { 'content-length': '0' } });
      }
    }
    expect(complaints()).toEqual([]);
  });
});

describe('a wrong address checksum', () => {
  test.each([
    `/v2/contract/1/${wrongChecksum}`,
    `/v2/contract/all-chains/${wrongChecksum}`,
    `/v1/contracts/1/${wrongChecksum}`,
    `/v1/contracts/1/${wrongChecksum}/events`,
    `/v1/contracts/1/${wrongChecksum}/same-code`,
    `/v1/contracts/search?q=${wrongChecksum}`,
    `/check-by-addresses?addresses=${KNOWN},${wrongChecksum}&chainIds=1`,
    `/check-all-by-addresses?addresses=${wrongChecksum}&chainIds=1`,
    `/files/any/1/${wrongChecksum}`,
    `/files/tree/any/1/${wrongChecksum}`,
    `/repo-ui/1/${wrongChecksum}`,
  ])('is rejected in %s', async (path) => {
    const { status, body } = await send(service.apiUrl, path);
    expect(status).toBe(400);
    const { code, customCode } = JSON.parse(body) as { code?: string; customCode?: string };
    // API v1 has no error codes.
    if (!/^\/(check|files)/.test(path)) expect(code ?? customCode).toBe('invalid_parameter');
    const inOneCase = path.replace(wrongChecksum, wrongChecksum.toLowerCase());
    expect((await send(service.apiUrl, inOneCase)).status).not.toBe(400);
  });

  test('is rejected in the published tree, while correct checksums and single-case addresses are accepted', async () => {
    const tree = (address: string) =>
      send(service.repositoryUrl, `/contracts/full_match/1/${address}/metadata.json`);
    expect((await tree(wrongChecksum)).status).toBe(400);
    expect((await tree(wrongChecksum.toLowerCase())).status).toBe(404);
    expect((await tree(`0x${wrongChecksum.slice(2).toUpperCase()}`)).status).toBe(404);
    expect((await tree(checksumAddress(wrongChecksum))).status).toBe(404);
  });
});
