/**
 * The bare counterpart in the HTTP benchmark, forked by http.ts: a node:http handler that only sends the
 * responses of a service, byte for byte. It gets the URL of that service, requests each response once, and
 * sends its own port to its parent.
 */
import { createServer, get, type IncomingMessage } from 'node:http';
import { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

interface Prepared {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Headers that Node adds to each response itself. */
const OF_NODE = new Set(['date', 'connection', 'keep-alive']);

async function prepare(url: string, headers: Record<string, string>): Promise<Prepared> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers }, resolve).once('error', reject);
  });
  const pairs = Object.entries(answer.headers).filter(([name]) => !OF_NODE.has(name));
  return {
    status: answer.statusCode ?? 0,
    headers: pairs.flatMap(([name, value]) => [name, String(value)]),
    body: await buffer(answer),
  };
}

const [service = ''] = process.argv.slice(2);
const identity = await prepare(service, {});
const gzip = await prepare(service, { 'accept-encoding': 'gzip' });
const br = await prepare(service, { 'accept-encoding': 'br' });
const notModified = await prepare(service, { 'if-none-match': '*' });

// A handler written for this purpose only: its response is prepared and the client's preferences are known in
// advance.
const server = createServer((request, response) => {
  const accepted = request.headers['accept-encoding'];
  const chosen =
    request.headers['if-none-match'] !== undefined
      ? notModified
      : accepted === undefined
        ? identity
        : accepted === 'br'
          ? br
          : gzip;
  response.writeHead(chosen.status, chosen.headers as string[]).end(chosen.body);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
