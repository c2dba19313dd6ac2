import { type IncomingMessage, type ServerResponse } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type ListRecord } from '../../src/chains/registry/list-record.ts';
import { type ErrorCode } from '../../src/errors.ts';
import { startWebServer, type WebServer } from './web-server.ts';

/** Behaviour of a public list source. `records` is the good list. */
export interface ChaosMode {
  readonly name: string;
  /** The sync's error code for it. Several if timing decides. */
  readonly codes: readonly ErrorCode[];
  readonly answer: (
    response: ServerResponse,
    records: readonly ListRecord[],
    context: { readonly request: IncomingMessage; readonly canary: WebServer },
  ) => void;
}

/** Constraints that the list must satisfy in these modes: see {@link CHAOS_MODES}. */
export const CHAOS_NEEDS = {
  contractChain: 3,
  configuredChain: 4,
  secret: 'canary-9d27f1c4',
} as const;

const send = (
  response: ServerResponse,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(body);
};
const sendRecords = (response: ServerResponse, records: readonly unknown[]): void =>
  send(response, JSON.stringify(records));
/** Writes to the socket directly: responses that no HTTP server sends. */
const speak = (response: ServerResponse, bytes: string | Uint8Array): void => {
  response.socket?.write(bytes);
};
const redirect = (response: ServerResponse, location: string): void => {
  response.writeHead(302, { location });
  response.end();
};
const change = (
  records: readonly ListRecord[],
  chainId: number,
  fields: Readonly<Record<string, unknown>>,
): readonly unknown[] =>
  records.map((record) => (record.chainId === chainId ? { ...record, ...fields } : record));
const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

const ZEROS = Buffer.alloc(64_000_000, ' ');
const GZIP_BOMB = gzipSync(ZEROS);
const BROTLI_BOMB = brotliCompressSync(ZEROS, {
  params: { [constants.BROTLI_PARAM_QUALITY]: 3 },
});
const MILLION = `[${'{},'.repeat(999_999)}{}]`;

const unavailable = ['chain_list_unavailable'] as const;
const invalid = ['invalid_chain_list'] as const;
const refused = ['chain_list_refused'] as const;
const malformed = ['malformed_response'] as const;
const broken = ['connection_failed', 'malformed_response'] as const;
const late = ['deadline_exceeded'] as const;

const status = (code: number, headers: Record<string, string> = {}): ChaosMode => ({
  name: `the status ${code}`,
  codes: unavailable,
  answer: (response) => {
    response.writeHead(code, headers);
    response.end([204, 304].includes(code) ? undefined : 'no list today');
  },
});

const text = (name: string, body: string | Uint8Array): ChaosMode => ({
  name,
  codes: invalid,
  answer: (response) => send(response, body),
});

const cut = (percent: number): ChaosMode => ({
  name: `a list truncated after ${percent} percent`,
  codes: invalid,
  answer: (response, records) => {
    const whole = Buffer.from(JSON.stringify(records));
    send(response, whole.subarray(0, Math.floor((whole.length * percent) / 100)));
  },
});

/** The failure modes of a public list source. None of them may change what is served. */
export const CHAOS_MODES: readonly ChaosMode[] = [
  ...[201, 204, 206, 304, 400, 401, 403, 404, 410, 451, 500, 502, 503, 504].map((code) =>
    status(code),
  ),
  { ...status(429, { 'retry-after': '1' }), codes: ['chain_list_unavailable', 'throttled'] },
  { ...status(301), name: 'a redirect to nowhere' },
  text('a page in place of the list', '<!doctype html><title>Sign in</title>'),
  ...[10, 20, 30, 40, 50, 60, 70, 80, 90, 99].map(cut),
  {
    name: 'a gzip bomb',
    codes: ['response_too_large'],
    answer: (response) => send(response, GZIP_BOMB, { 'content-encoding': 'gzip' }),
  },
  {
    name: 'a br bomb',
    codes: ['response_too_large'],
    answer: (response) => send(response, BROTLI_BOMB, { 'content-encoding': 'br' }),
  },
  {
    name: 'a gzip body that is not gzip',
    codes: malformed,
    answer: (response, records) =>
      send(response, JSON.stringify(records), { 'content-encoding': 'gzip' }),
  },
  {
    name: 'a truncated gzip body',
    codes: malformed,
    answer: (response, records) => {
      const body = gzipSync(JSON.stringify(records));
      send(response, body.subarray(0, body.length / 2), { 'content-encoding': 'gzip' });
    },
  },
  {
    name: 'an unrequested content encoding',
    codes: malformed,
    answer: (response) => send(response, 'x', { 'content-encoding': 'zstd' }),
  },
  {
    name: 'gzip in gzip',
    codes: malformed,
    answer: (response, records) =>
      send(response, gzipSync(gzipSync(JSON.stringify(records))), {
        'content-encoding': 'gzip, gzip',
      }),
  },
  {
    name: 'a byte from time to time',
    codes: late,
    answer: (response, records) => {
      response.writeHead(200);
      const body = JSON.stringify(records);
      let at = 0;
      const timer = setInterval(() => response.write(body[at++] ?? ' '), 20);
      response.on('close', () => clearInterval(timer));
    },
  },
  { name: 'no response', codes: late, answer: () => undefined },
  {
    name: 'headers that never end',
    codes: late,
    answer: (response) => {
      speak(response, 'HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => speak(response, 'x-more: 1\r\n'), 50);
      response.socket?.on('close', () => clearInterval(timer));
    },
  },
  {
    name: 'a body that stalls',
    codes: late,
    answer: (response, records) => {
      response.writeHead(200);
      response.write(JSON.stringify(records).slice(0, 100));
    },
  },
  {
    name: 'a connection reset',
    codes: broken,
    answer: (response) => response.socket?.resetAndDestroy(),
  },
  {
    name: 'a connection that ends without a response',
    codes: broken,
    answer: (response) => response.socket?.end(),
  },
  {
    name: 'a connection reset within the body',
    codes: broken,
    answer: (response, records) => {
      response.writeHead(200);
      response.write(JSON.stringify(records).slice(0, 100), () =>
        response.socket?.resetAndDestroy(),
      );
    },
  },
  {
    name: 'a Content-Length that is too large',
    codes: broken,
    answer: (response, records) => {
      const body = JSON.stringify(records);
      const length = Buffer.byteLength(body) + 10;
      speak(response, `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${body}`);
      response.socket?.end();
    },
  },
  {
    name: 'a Content-Length that is too small',
    codes: ['invalid_chain_list', ...broken],
    answer: (response, records) => {
      const body = JSON.stringify(records);
      const length = Buffer.byteLength(body) - 10;
      speak(response, `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${body}`);
    },
  },
  {
    name: 'a Content-Length that is not a number',
    codes: broken,
    answer: (response) => speak(response, 'HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n[]'),
  },
  {
    name: 'an invalid chunk',
    codes: broken,
    answer: (response) =>
      speak(response, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n[]\r\n0\r\n\r\n'),
  },
  {
    name: 'chunks that end too early',
    codes: broken,
    answer: (response) => {
      speak(response, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n');
      response.socket?.end();
    },
  },
  {
    name: 'a response that is not HTTP',
    codes: broken,
    answer: (response) => speak(response, 'SSH-2.0-OpenSSH_9.9\r\n'),
  },
  {
    name: 'a header of a megabyte',
    codes: ['response_too_large'],
    answer: (response) =>
      speak(response, `HTTP/1.1 200 OK\r\nx-big: ${'x'.repeat(1_000_000)}\r\n\r\n[]`),
  },
  {
    name: 'a body without an end',
    codes: ['response_too_large'],
    answer: (response) => {
      const chunk = Buffer.alloc(1_000_000, ' ');
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      response.writeHead(200);
      more();
    },
  },
  text('an empty body', ''),
  text('white space', ' \n\t '),
  text('null', 'null'),
  text('an object', '{"chains":[]}'),
  text('an empty list', '[]'),
  text('a number', '1'),
  text('NaN', '[{"chainId":NaN}]'),
  text('a list in single quotes', "[{'chainId':1}]"),
  text('nesting without an end', '['.repeat(1_000_000)),
  text('a million entries', MILLION),
  {
    name: 'a list followed by other text',
    codes: invalid,
    answer: (response, records) => send(response, `${JSON.stringify(records)}<!-- cached -->`),
  },
  {
    name: 'a list twice',
    codes: invalid,
    answer: (response, records) =>
      send(response, JSON.stringify(records) + JSON.stringify(records)),
  },
  {
    name: 'a list in UTF-16',
    codes: invalid,
    answer: (response, records) =>
      send(response, Buffer.from(`\ufeff${JSON.stringify(records)}`, 'utf16le')),
  },
  {
    name: 'a list in Latin-1',
    codes: invalid,
    answer: (response, records) =>
      send(response, Buffer.from(JSON.stringify(change(records, 5, { name: 'Café' })), 'latin1')),
  },
  {
    name: 'an id twice',
    codes: invalid,
    answer: (response, records) => sendRecords(response, [...records, records[0]]),
  },
  {
    name: 'names that are numbers',
    codes: invalid,
    answer: (response, records) =>
      sendRecords(
        response,
        records.map((record) => ({ ...record, name: record.chainId })),
      ),
  },
  {
    name: 'ids that are strings',
    codes: invalid,
    answer: (response, records) =>
      sendRecords(
        response,
        records.map((record) => ({ ...record, chainId: `${record.chainId}` })),
      ),
  },
  {
    name: 'wrong types in a third of the records',
    codes: refused,
    answer: (response, records) =>
      sendRecords(
        response,
        records.map((record, index) => (index % 3 === 2 ? { ...record, rpc: 'none' } : record)),
      ),
  },
  {
    name: 'half of the chains missing',
    codes: refused,
    answer: (response, records) => sendRecords(response, records.slice(0, records.length / 2)),
  },
  {
    name: 'entirely different chains',
    codes: refused,
    answer: (response, records) =>
      sendRecords(
        response,
        records.map((record) => ({ ...record, chainId: record.chainId + 1e6 })),
      ),
  },
  {
    name: 'a chain with contracts missing',
    codes: refused,
    answer: (response, records) =>
      sendRecords(
        response,
        records.filter(({ chainId }) => chainId !== CHAOS_NEEDS.contractChain),
      ),
  },
  {
    name: 'a configured chain missing',
    codes: refused,
    answer: (response, records) =>
      sendRecords(
        response,
        records.filter(({ chainId }) => chainId !== CHAOS_NEEDS.configuredChain),
      ),
  },
  {
    name: 'an unreadable record of a chain with contracts',
    codes: refused,
    answer: (response, records) =>
      sendRecords(response, change(records, CHAOS_NEEDS.contractChain, { nativeCurrency: 'ETH' })),
  },
  {
    name: 'a record nested too deeply',
    codes: refused,
    answer: (response, records) =>
      sendRecords(
        response,
        change(records, CHAOS_NEEDS.contractChain, { parent: { type: nested(500) } }),
      ),
  },
  {
    name: 'the id of a chain with contracts reused',
    codes: refused,
    answer: (response, records) =>
      sendRecords(
        response,
        change(records, CHAOS_NEEDS.contractChain, {
          name: 'Quite Another',
          redFlags: ['reusedChainId'],
        }),
      ),
  },
  {
    name: 'a secret of the operator in a name',
    codes: ['secret_in_document'],
    answer: (response, records) =>
      sendRecords(response, change(records, 5, { name: `Chain ${CHAOS_NEEDS.secret}` })),
  },
  {
    name: 'a redirect loop',
    codes: ['too_many_redirects'],
    answer: (response, _records, { request }) => redirect(response, request.url ?? '/'),
  },
  {
    name: 'a redirect to a private address',
    codes: ['address_not_allowed'],
    answer: (response, _records, { canary }) => redirect(response, `${canary.url}/chains.json`),
  },
  {
    name: 'a redirect to cloud metadata',
    codes: ['address_not_allowed'],
    answer: (response) => redirect(response, 'http://169.254.169.254/latest/meta-data/'),
  },
  {
    name: 'a redirect to a file',
    codes: ['scheme_not_allowed'],
    answer: (response) => redirect(response, 'file:///etc/passwd'),
  },
  {
    name: 'a redirect with user information',
    codes: ['url_not_allowed'],
    answer: (response) => redirect(response, 'https://user:password@example.org/chains.json'),
  },
];

/** A public list source on loopback whose behaviour the test chooses. */
export interface ChaosUpstream {
  readonly url: string;
  readonly requests: () => number;
  /** Requests that reached the server that must not be reached. */
  readonly canaryConnections: () => number;
  /** Serves this list, or fails in this mode from now on. */
  serve(records: readonly ListRecord[]): void;
  fail(mode: ChaosMode): void;
  /** Responds with the test's own handler. */
  answer(mode: ChaosMode['answer']): void;
  close(): Promise<void>;
}

/** Starts a source that serves these records. */
export async function startChaosUpstream(first: readonly ListRecord[]): Promise<ChaosUpstream> {
  let records = first;
  const good: ChaosMode['answer'] = (response) => sendRecords(response, records);
  let answer = good;
  let requests = 0;
  const canary = await startWebServer((_request, response) => sendRecords(response, records));
  const server = await startWebServer((request, response) => {
    requests += 1;
    response.on('error', () => undefined);
    answer(response, records, { request, canary });
  });
  return {
    url: `${server.url}/chains.json`,
    requests: () => requests,
    canaryConnections: () => canary.connections(),
    serve: (newer) => {
      records = newer;
      answer = good;
    },
    fail: (mode) => {
      answer = mode.answer;
    },
    answer: (mode) => {
      answer = mode;
    },
    close: async () => {
      await server.close();
      await canary.close();
    },
  };
}
