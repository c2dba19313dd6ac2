import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { isIP, isIPv4 } from 'node:net';
import { type Resolve } from '../../src/lib/guarded-connector.ts';

/** A test's DNS server on 127.0.0.1: its answers for a name may change between queries. */
export interface DnsServer {
  /** Resolves addresses through this server only. */
  readonly resolve: Resolve;
  /** Queries so far, of all names and types. */
  readonly questions: () => number;
  readonly close: () => Promise<void>;
}

const HEADER_BYTES = 12;
const A = 1;
const AAAA = 28;

/**
 * Reads the name and the type of the single question in a DNS message (RFC 1035, section 4.1.2), and its end
 * offset.
 */
function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // A record has no room for a zone.
  const hex = new URL(`http://[${address.replace(/%.*$/, '')}]/`).hostname.slice(1, -1);
  const [before = '', after = ''] = hex.split('::');
  const left = before.split(':').filter(Boolean);
  const right = hex.includes('::') ? after.split(':').filter(Boolean) : [];
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  const words = [...left, ...zeros, ...right].map((word) => word.padStart(4, '0'));
  return Buffer.from(words.join(''), 'hex');
}

/** An answer record: the name as a pointer to the question, with TTL 0, so that nothing is cached. */
function record(type: number, address: string): Buffer {
  const data = bytesOf(address);
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}

/**
 * Starts a DNS server. `addressesOf` is called for each query with the number of earlier queries of this name
 * and type.
 */
export async function startDnsServer(
  addressesOf: (name: string, question: number) => readonly string[],
): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked = new Map<string, number>();
  let questions = 0;
  socket.on('message', (message, from) => {
    questions += 1;
    const { name, type, end } = readQuestion(message);
    const key = `${name} ${type}`;
    const question = asked.get(key) ?? 0;
    asked.set(key, question + 1);
    const addresses = addressesOf(name, question).filter(
      (address) => isIP(address) !== 0 && type === (isIPv4(address) ? A : AAAA),
    );
    const head = Buffer.from(message.subarray(0, HEADER_BYTES));
    // A response without error to one question, with this many answers and no other records.
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(addresses.length, 6);
    head.writeUInt32BE(0, 8);
    const answers = addresses.map((address) => record(type, address));
    const question1 = message.subarray(HEADER_BYTES, end);
    socket.send(Buffer.concat([head, question1, ...answers]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const resolver = new Resolver({ timeout: 1000, tries: 2 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    resolve: async (name) => {
      const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      return found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    },
    questions: () => questions,
    close: () =>
      new Promise((resolve) => {
        resolver.cancel();
        socket.close(() => resolve());
      }),
  };
}
