/**
 * The bare counterpart in the HTTP benchmark, forked by http.ts: a node:http handler that sends the answers of a service,
 * byte for byte, and does nothing else. It is told where that service is, asks it once for each answer, and sends its own
 * port to its parent.
 */
import { createServer, get, type IncomingMessage } from 'node:http';
import { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

interface Prepared {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Headers that Node writes itself, for each answer. */
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

// As a handler written for nothing else: what it sends is prepared and the client's wish is known beforehand.
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
