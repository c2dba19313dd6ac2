/**
 * The bare counterpart in the HTTP benchmark: a node:http handler that only sends the responses of a service,
 * byte for byte, in a process of its own (start-bare.ts) or, loaded with `--import`, in the process of the service.
 * The latter shows which part of a difference is due to the process and not to the service's handlers.
 *
 * It listens on BENCH_BARE_PORT. `GET /prepare?url=…` makes it request each response of that URL once; every other
 * request gets one of them.
 */
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { isMainThread } from 'node:worker_threads';

interface Prepared {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const PREPARE = '/prepare?url=';

/** Headers that Node adds to each response itself. */
const OF_NODE = new Set(['date', 'connection', 'keep-alive']);

const REQUESTS = {
  identity: {},
  gzip: { 'accept-encoding': 'gzip' },
  br: { 'accept-encoding': 'br' },
  notModified: { 'if-none-match': '*' },
} as const;

async function prepare(url: string, headers: Record<string, string>): Promise<Prepared> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).once('error', reject);
  });
  const pairs = Object.entries(answer.headers).filter(([name]) => !OF_NODE.has(name));
  return {
    status: answer.statusCode ?? 0,
    headers: pairs.flatMap(([name, value]) => [name, String(value)]),
    body: await buffer(answer),
  };
}

let prepared: Partial<Record<keyof typeof REQUESTS, Prepared>> = {};

async function prepareAll(url: string): Promise<void> {
  prepared = {
    identity: await prepare(url, REQUESTS.identity),
    gzip: await prepare(url, REQUESTS.gzip),
    br: await prepare(url, REQUESTS.br),
    notModified: await prepare(url, REQUESTS.notModified),
  };
}

// A handler written for this purpose only: its response is prepared and the client's preferences are known in
// advance.
const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const { url = '' } = request;
  if (url.startsWith(PREPARE)) {
    void prepareAll(decodeURIComponent(url.slice(PREPARE.length))).then(() => response.end());
    return;
  }
  const accepted = request.headers['accept-encoding'];
  const chosen =
    request.headers['if-none-match'] !== undefined
      ? prepared.notModified
      : accepted === undefined
        ? prepared.identity
        : accepted === 'br'
          ? prepared.br
          : prepared.gzip;
  if (chosen === undefined) response.writeHead(503).end();
  else response.writeHead(chosen.status, chosen.headers as string[]).end(chosen.body);
};

if (isMainThread) {
  const server = createServer(answer);
  server.listen(Number(process.env['BENCH_BARE_PORT'] ?? 0), '127.0.0.1', () => {
    process.send?.((server.address() as AddressInfo).port);
  });
  // A service that it is loaded into ends without it.
  if (process.send === undefined) server.unref();
  else process.on('disconnect', () => process.exit());
}
