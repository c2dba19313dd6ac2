import { hostileJson, hostileText, mutateJson } from './hostile-values.ts';
import { SeededRandom } from './seeded-random.ts';

/** One request of a fuzz run, derived from its seed and index alone. */
export interface FuzzRequest {
  readonly host: 'api' | 'repository';
  /** Whether it is valid HTTP/1.1: then it may share a connection with others and must get a response. */
  readonly framed: boolean;
  readonly method: string;
  /** The target exactly as in the request line. */
  readonly target: string;
  readonly bytes: Buffer;
  /** Whether its response is endless. */
  readonly endless: boolean;
  /** Number of bytes per write; 0 for all at once. */
  readonly splitEvery: number;
}

/** Parts of openapi.json used by the grammar. */
export interface FuzzedRoute {
  readonly host: 'api' | 'repository';
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  readonly bodies: readonly string[];
}

interface OpenApiOperation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
}

const REPOSITORY_PATH = /^\/(?:stats\.json|manifest\.json|contracts\/\{)/;

/** The routes of both hosts from the OpenAPI document, and the pages, which it does not contain. */
export function readRoutes(document: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
}): readonly FuzzedRoute[] {
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]): FuzzedRoute => {
      return {
        host: REPOSITORY_PATH.test(path) ? 'repository' : 'api',
        method: method.toUpperCase(),
        path,
        query: parameters.filter((each) => each.in === 'query').map(({ name }) => name),
        bodies: Object.keys(requestBody?.content ?? {}),
      };
    }),
  );
  const pages = ['/', '/contract/{chainId}/{address}', '/job/{id}', '/verify', '/chain/{ref}'];
  const page = (path: string): FuzzedRoute => {
    return { host: 'api', method: 'GET', path, query: ['q', 'chain', 'after'], bodies: [] };
  };
  return [...described, ...pages.map(page)];
}

const ADDRESS = `0x${'12'.repeat(20)}`;
const SOUND: Readonly<Record<string, string>> = {
  chainId: '424242',
  address: ADDRESS,
  ref: '424242',
  matchFolder: 'full_match',
  path: 'metadata.json',
  verificationId: '6f1b0d5c-52a0-4f0e-9e59-3f1c86c4f1aa',
  id: '6f1b0d5c-52a0-4f0e-9e59-3f1c86c4f1aa',
  addresses: ADDRESS,
  chainIds: '424242',
  limit: '10',
  sort: 'desc',
  fields: 'all',
  q: 'token',
  from: '2026-01-01',
  to: '2026-11-21',
  interval: 'day',
};

const V2_BODY = {
  stdJsonInput: {
    language: 'Solidity',
    sources: { 'a.sol': { content: 'contract A {}' } },
    settings: { optimizer: { enabled: true, runs: 200 }, libraries: {} },
  },
  compilerVersion: '0.8.37+commit.f401782d',
  contractIdentifier: 'a.sol:A',
  creationTransactionHash: `0x${'ab'.repeat(32)}`,
};
const METADATA = {
  compiler: { version: '0.8.37+commit.f401782d' },
  language: 'Solidity',
  settings: { compilationTarget: { 'a.sol': 'A' }, optimizer: { enabled: true, runs: 200 } },
  sources: { 'a.sol': { keccak256: `0x${'00'.repeat(32)}`, urls: [] } },
  output: { abi: [] },
  version: 1,
};
// An unsupported chain: an API v1 request waits for its job, but these must return immediately.
const V1_BODY = {
  chain: '7',
  address: ADDRESS,
  files: { 'metadata.json': METADATA, 'a.sol': 'contract A {}' },
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND'] as const;
const HEADERS = [
  ...['accept: */*', 'accept: text/html', 'accept: application/json;q=0', 'accept: \xff'],
  ...[
    'accept-encoding: br',
    'accept-encoding: identity;q=0',
    'accept-encoding: *;q=0',
    'range: bytes=0-1',
  ],
  ...[
    'if-none-match: *',
    'if-none-match: W/"x", "',
    'if-modified-since: yesterday',
    'te: trailers',
  ],
  ...[
    'content-encoding: gzip',
    'content-encoding: x',
    'content-language: \x80',
    'x-forwarded-for: \x80',
  ],
  ...[
    'forwarded: for="[::1',
    'cookie: a=b; __proto__=1',
    'origin: null',
    'authorization: Basic !!',
  ],
  ...[
    'last-event-id: -1',
    'last-event-id: 9x',
    'last-event-id: 99999999999999999999',
    'via: 1.1 a',
  ],
  ...['x-forwarded-proto: javascript', 'x-forwarded-host: evil.example', 'accept-language: *;q=2'],
] as const;

const encode = (text: string): string =>
  Buffer.from(text, 'utf8').reduce(
    (done, byte) =>
      done +
      (/[A-Za-z0-9._~-]/.test(String.fromCharCode(byte))
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).padStart(2, '0')}`),
    '',
  );

/** A hostile value for a request line: encoded, half encoded, or raw. */
function inTarget(random: SeededRandom): string {
  const text = hostileText(random).slice(0, 6_000);
  const kind = random.below(10);
  if (kind < 7) return encode(text);
  if (kind === 7) return `%${random.pick(['', 'zz', 'f', 'ff', 'c0%80', 'ed%a0%80', '00'])}`;
  return text.replaceAll(/[^\x21-\x7e]/g, '');
}

function makeTarget(random: SeededRandom, route: FuzzedRoute): string {
  const value = (name: string): string =>
    random.chance(0.35) ? inTarget(random) : (SOUND[name] ?? inTarget(random));
  let path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => value(name));
  if (route.host === 'api' && random.chance(0.1)) path = `/server${path}`;
  if (random.chance(0.05)) path += random.pick(['/', '//', '/..', '/%2e%2e', '.json', ';a', '%00']);
  const query: string[] = [];
  for (const name of route.query) {
    if (random.chance(0.5)) query.push(`${name}=${value(name)}`);
    if (random.chance(0.05)) query.push(`${name}[]=${value(name)}`, `${name}=${value(name)}`);
  }
  if (random.chance(0.05)) query.push(`${inTarget(random)}=${inTarget(random)}`);
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

function makeMultipart(random: SeededRandom): { type: string; body: Buffer } {
  const boundary = random.pick(['b', '', '"b"', 'b b', 'x'.repeat(200), '--', '\xff']);
  const parts = Array.from({ length: random.below(6) }, () => {
    const name = random.pick(['chain', 'address', 'files', '', '__proto__', '"', 'a\0']);
    const file = random.pick(['', '; filename="a.sol"', "; filename*=utf-8''%ff", '; filename=']);
    const head = random.pick([
      `Content-Disposition: form-data; name="${name}"${file}`,
      'Content-Disposition: attachment',
      'X: y',
      '',
    ]);
    const value = random.pick([hostileText(random), '7', ADDRESS, JSON.stringify(METADATA)]);
    return `--${boundary}\r\n${head}${random.pick(['\r\n\r\n', '\r\n', '\n\n', ''])}${value}\r\n`;
  });
  const end = random.pick([`--${boundary}--\r\n`, `--${boundary}`, '', '--\r\n']);
  return {
    type: `multipart/form-data${random.pick([`; boundary=${boundary}`, '', '; boundary', ';;'])}`,
    body: Buffer.from(parts.join('') + end, 'utf8'),
  };
}

function makeBody(random: SeededRandom, route: FuzzedRoute): { type: string; body: Buffer } {
  if (route.bodies.includes('multipart/form-data') && random.chance(0.4)) {
    return makeMultipart(random);
  }
  const sound = route.path.includes('metadata')
    ? { metadata: METADATA, sources: { 'a.sol': 'contract A {}' } }
    : route.path.startsWith('/v2')
      ? V2_BODY
      : V1_BODY;
  let value: unknown = sound;
  for (let count = 1 + random.below(3); count > 0; count -= 1) value = mutateJson(random, value);
  if (random.chance(0.1)) value = hostileJson(random);
  let body = Buffer.from(JSON.stringify(value) ?? '', 'utf8');
  if (random.chance(0.2)) body = body.subarray(0, random.below(body.length + 1));
  if (random.chance(0.1) && body.length > 0) body[random.below(body.length)] = random.below(256);
  if (random.chance(0.03)) body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]);
  const type = random.chance(0.85)
    ? 'application/json'
    : random.pick([
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/json; charset=utf-16',
        '',
        '/',
      ]);
  return { type, body };
}

/** Replacements for the framing of an invalid request. */
function breakFraming(random: SeededRandom, method: string, target: string, body: Buffer): Buffer {
  const line = `${method} ${target} HTTP/1.1\r\nhost: a\r\n`;
  const text = body.toString('latin1').slice(0, 2_000);
  const length = body.length;
  const chunk = (size: string): string =>
    `${line}transfer-encoding: chunked\r\n\r\n${size}\r\n${text}\r\n0\r\n\r\n`;
  const shapes: readonly [() => string, ...(() => string)[]] = [
    () => `${method} ${target} HTTP/1.0\r\n\r\n`,
    () => `${method} ${target}\r\n\r\n`,
    () => `${method} ${target} HTTP/9.9\r\nhost: a\r\n\r\n`,
    () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
    () => `${method} http://a${target} HTTP/1.1\r\nhost: b\r\n\r\n`,
    () => `${method} https://user:pass@[::1${target} HTTP/1.1\r\nhost: b\r\n\r\n`,
    () => `CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n`,
    () => `OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n`,
    () => `${line}content-length: -1\r\n\r\n${text}`,
    () => `${line}content-length: 99999999999999999999\r\n\r\n${text}`,
    () => `${line}content-length: 1000000000000\r\n\r\n${text}`,
    () => `${line}content-length: ${length}\r\ncontent-length: ${length + 1}\r\n\r\n${text}`,
    () => `${line}content-length: +${length}\r\n\r\n${text}`,
    () => `${line}content-length: 0x10\r\n\r\n${text}`,
    () => `${line}content-length: ${length + 50}\r\n\r\n${text}`,
    () => `${line}content-length: ${length}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${text}`,
    () => `${line}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    () => `${line}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`,
    () => `${line}transfer-encoding : chunked\r\n\r\n0\r\n\r\n`,
    () => chunk(`${text.length.toString(16)};${'e'.repeat(random.below(400))}`),
    () => chunk('-1'),
    () => chunk('fffffffffffffffff'),
    () => chunk('zz'),
    () => chunk(''),
    () => `${method} ${target} HTTP/1.1\nhost: a\n\n`,
    () => `${line}x: a\r\n b\r\n\r\n`,
    () => `${line}x\0: y\r\n\r\n`,
    () => `${line}x y: z\r\n\r\n`,
    () => `${line}: z\r\n\r\n`,
    () => `${method} ${target} HTTP/1.1\r\n\r\n`,
    () => `${line}host: b\r\n\r\n`,
    () => `${line}host: \r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
    () => `${method} /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
    () => `${line}expect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`,
    () => `${line}expect: ${encode(hostileText(random)).slice(0, 50)}\r\n\r\n`,
    () => `${line}upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n\r\n`,
    () =>
      `${line}upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: AA\r\n\r\n`,
    () => `${line}\r\nGET /chains HTTP/1.1\r\nhost: a\r\n\r\n\0\0`,
    () => `\r\n\r\n\r\n${line}\r\n`,
    () => random.bytes(1 + random.below(200)).toString('latin1'),
    () => line.slice(0, random.below(line.length)),
  ];
  return Buffer.from(random.pick(shapes)(), 'latin1');
}

/** Builds the request of an index. */
export function makeRequest(
  routes: readonly FuzzedRoute[],
  seed: number,
  index: number,
): FuzzRequest {
  const random = new SeededRandom(seed, index);
  const route = random.pick(routes) ?? {
    host: 'api',
    method: 'GET',
    path: '/',
    query: [],
    bodies: [],
  };
  const method = random.chance(0.9) ? route.method : random.pick(METHODS);
  const target = makeTarget(random, route) || '/';
  const hasBody = route.bodies.length > 0 || random.chance(0.05);
  const { type, body } = hasBody ? makeBody(random, route) : { type: '', body: Buffer.alloc(0) };
  const endless = target.includes('/v1/events');
  const base = { host: route.host, method, target, endless };
  // A long request, byte by byte, would take a whole second.
  if (random.chance(0.1)) {
    const bytes = breakFraming(random, method, target, body);
    const splitEvery = random.chance(0.3) ? (bytes.length < 400 ? 1 : 64) : 0;
    return { ...base, framed: false, bytes, splitEvery };
  }
  const headers = ['host: a'];
  if (hasBody) headers.push(`content-type: ${type}`);
  while (random.chance(0.3)) headers.push(random.pick(HEADERS));
  const chunked = hasBody && random.chance(0.1);
  headers.push(chunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`);
  const head = `${method} ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`;
  const sent = chunked
    ? [
        Buffer.from(body.length === 0 ? '' : `${body.length.toString(16)}\r\n`),
        body,
        Buffer.from(body.length === 0 ? '0\r\n\r\n' : '\r\n0\r\n\r\n'),
      ]
    : [body];
  return {
    ...base,
    framed: !endless && !random.chance(0.02),
    bytes: Buffer.concat([Buffer.from(head, 'latin1'), ...sent]),
    splitEvery: 0,
  };
}
