/**
 * A benchmark client with minimal cost: it reads responses as bytes and parses only their length. With large
 * bodies, a client that parses whole responses would reach a thousandth of the server's throughput, so the
 * benchmark would measure the client.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

const CLIENTS = 2;
const READ_BYTES = 262_144;

/** The request to repeat on each of the connections. */
interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
}

/** Number of responses, and of those with a status other than 200 or 304. */
export interface Answered {
  readonly total: number;
  readonly failed: number;
}

/** Requests a URL on several connections, each with one request at a time, from separate processes. */
export async function sendRequests(load: Load): Promise<Answered> {
  const share = { ...load, connections: load.connections / CLIENTS };
  const answered = await Promise.all(Array.from({ length: CLIENTS }, () => runClient(share)));
  return {
    total: answered.reduce((sum, { total }) => sum + total, 0),
    failed: answered.reduce((sum, { failed }) => sum + failed, 0),
  };
}

async function runClient(load: Load): Promise<Answered> {
  const file = fileURLToPath(import.meta.url);
  const child = fork(file, [JSON.stringify(load)], { execArgv: ['--import', 'tsx'] });
  const [answered] = (await once(child, 'message')) as [Answered];
  return answered;
}

/** Runs one connection; resolves with its result once the time is over. */
function askAgainAndAgain({ url, headers }: Load, until: number): Promise<Answered> {
  const { hostname, port, host, pathname, search } = new URL(url);
  const fields = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const request = `GET ${pathname}${search} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`;
  return new Promise((resolve, reject) => {
    let total = 0;
    let failed = 0;
    /** Remaining bytes of the current response; undefined before its headers. */
    let missing: number | undefined;
    const onBytes = (length: number, bytes: Uint8Array): boolean => {
      missing ??= lengthOf(bytes);
      missing -= length;
      if (missing > 0) return true;
      missing = undefined;
      total += 1;
      if (performance.now() < until) socket.write(request);
      else {
        socket.destroy();
        resolve({ total, failed });
      }
      return true;
    };
    const lengthOf = (bytes: Uint8Array): number => {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const end = text.indexOf('\r\n\r\n');
      const head = text.toString('latin1', 0, end);
      if (!/^HTTP\/1\.1 (?:200|304) /.test(head)) failed += 1;
      return Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0) + end + 4;
    };
    const socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: { buffer: Buffer.alloc(READ_BYTES), callback: onBytes },
    });
    socket.once('error', reject).once('connect', () => socket.write(request));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const load = JSON.parse(process.argv[2] ?? '') as Load;
  const until = performance.now() + load.seconds * 1000;
  const each = await Promise.all(
    Array.from({ length: load.connections }, () => askAgainAndAgain(load, until)),
  );
  process.send?.({
    total: each.reduce((sum, { total }) => sum + total, 0),
    failed: each.reduce((sum, { failed }) => sum + failed, 0),
  });
  process.disconnect();
}
