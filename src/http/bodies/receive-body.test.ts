import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { readSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { silentLogger } from '../../log.ts';
import { BodyBudget, type BodyLimits, BodyShare } from './body-budget.ts';
import { receiveBody, type ReceivedBody } from './receive-body.ts';

const ROOMY: BodyLimits = { memoryBytes: 1e9, spoolBytes: 1e9, clientBytes: 1e9 };
const NOTHING = { memory: 0, spool: 0, clients: 0 };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'bodies-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function* chunksOf(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

function receive(
  budget: BodyBudget,
  chunks: AsyncIterable<Uint8Array>,
  more: { client?: string; declaredBytes?: number; limitBytes?: number } = {},
): Promise<ReceivedBody> {
  const { client = 'a', limitBytes = 1e9, declaredBytes } = more;
  const share = new BodyShare(budget, client);
  const stream = Readable.from(chunks, { objectMode: false });
  return receiveBody(stream, {
    limitBytes,
    declaredBytes,
    share,
    folder,
    log: silentLogger,
    turn: nextLoopTurn,
  });
}

/** A body that comes over HTTP in chunks of one byte, or why it was refused, and how often its stream was read. */
async function receiveChunked(
  count: number,
  wireBytes?: (request: IncomingMessage) => number,
): Promise<{ readonly body: unknown; readonly reads: number }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
  const [request] = (await once(server, 'request')) as [IncomingMessage];
  const share = new BodyShare(new BodyBudget(ROOMY), 'a');
  const read = vi.spyOn(request, 'read');
  socket.write(`${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`);
  const body = await receiveBody(request, {
    ...{ limitBytes: 1e9, share, folder, log: silentLogger, turn: nextLoopTurn },
    wireBytes: wireBytes && ((): number => wireBytes(request)),
  }).catch((error: unknown) => error);
  socket.destroy();
  server.close();
  // The stream itself asks for no bytes, to have more brought.
  const taken = read.mock.calls.filter(([size]) => size === undefined);
  return { body, reads: taken.length };
}

function bytesOf({ bytes, length }: ReceivedBody): Buffer {
  if ('blocks' in bytes) return Buffer.concat(bytes.blocks);
  const read = Buffer.alloc(length);
  readSync(bytes.file, read, 0, length, 0);
  return read;
}

describe('a body', () => {
  test('comes as it was sent, in memory or in a file, and gives everything back', async () => {
    const chunk = fc.uint8Array({ minLength: 1, maxLength: 70_000 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(chunk, { maxLength: 8 }),
        fc.constantFrom(1e9, 100_000, 0),
        fc.boolean(),
        async (chunks, memoryBytes, isDeclared) => {
          const budget = new BodyBudget({ ...ROOMY, memoryBytes });
          const whole = Buffer.concat(chunks);
          const declared = isDeclared && { declaredBytes: whole.length };
          const body = await receive(budget, chunksOf(...chunks), { ...declared });
          expect(bytesOf(body).equals(whole)).toBe(true);
          const { memory, spool } = budget.held;
          expect(memory).toBeLessThanOrEqual(memoryBytes);
          expect(memory + spool).toBeGreaterThanOrEqual(whole.length);
          await body.close();
          expect(budget.held).toEqual(NOTHING);
        },
      ),
      { numRuns: 30 },
    );
    expect(await readdir(folder).catch(() => [])).toEqual([]);
  });

  test('of single bytes takes no more memory than its blocks', async () => {
    const budget = new BodyBudget(ROOMY);
    const chunks = Array.from({ length: 5000 }, () => Buffer.from('x'));
    const body = await receive(budget, chunksOf(...chunks));
    expect(budget.held.memory).toBe(65_536);
    await body.close();
  });

  test('of chunks of one byte is taken by what the connection brings, not by the chunk', async () => {
    const { body, reads } = await receiveChunked(100_000);
    expect((body as ReceivedBody).length).toBe(100_000);
    expect(bytesOf(body as ReceivedBody).equals(Buffer.alloc(100_000, 'x'))).toBe(true);
    expect(reads).toBeLessThan(1_000);
    await (body as ReceivedBody).close();
  });

  test('is refused where its framing takes several times its bytes', async () => {
    const { body, reads } = await receiveChunked(100_000, (request) => request.socket.bytesRead);
    expect(body).toMatchObject({ code: 'malformed_request' });
    expect(reads).toBeLessThan(1_000);
  });

  test.each([
    ['request_too_large', ROOMY, { limitBytes: 9 }],
    ['too_many_client_bodies', { ...ROOMY, clientBytes: 9 }, {}],
    ['too_many_bodies', { ...ROOMY, memoryBytes: 0, spoolBytes: 9 }, {}],
  ] as const)('beyond its bounds is refused: %s', async (code, limits, more) => {
    const budget = new BodyBudget(limits);
    const chunks = chunksOf(Buffer.alloc(5), Buffer.alloc(5));
    await expect(receive(budget, chunks, more)).rejects.toMatchObject({ code });
    expect(budget.held).toEqual(NOTHING);
  });

  test('finds room beside the unfinished bodies of many addresses: the last one of them ends', async () => {
    const budget = new BodyBudget({ memoryBytes: 0, spoolBytes: 100, clientBytes: 1000 });
    const open = new AbortController();
    async function* unfinished(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(10);
      await new Promise((_resolve, reject) => {
        open.signal.addEventListener('abort', () => reject(new Error('over')));
      });
    }
    const held: ReturnType<typeof receive>[] = [];
    for (let index = 0; index < 10; index += 1) {
      held.push(receive(budget, unfinished(), { client: `192.0.2.${index}` }));
      await expect.poll(() => budget.held.spool).toBe(10 * held.length);
    }
    const ends = Promise.allSettled(held);
    const body = await receive(budget, chunksOf(Buffer.alloc(15)), { client: '198.51.100.1' });
    await expect(held[9]).rejects.toMatchObject({ code: 'too_many_bodies' });
    expect(budget.held.spool).toBe(95);
    await body.close();
    open.abort();
    await ends;
    expect(budget.held).toEqual(NOTHING);
  });

  test('of another client has its own bound', async () => {
    const budget = new BodyBudget({ ...ROOMY, clientBytes: 10 });
    const ten = { declaredBytes: 10 };
    const first = await receive(budget, chunksOf(Buffer.alloc(10)), ten);
    await expect(receive(budget, chunksOf(Buffer.alloc(1)), ten)).rejects.toMatchObject({
      code: 'too_many_client_bodies',
    });
    const other = await receive(budget, chunksOf(Buffer.alloc(10)), { ...ten, client: 'b' });
    await Promise.all([first.close(), other.close()]);
    await (await receive(budget, chunksOf(Buffer.alloc(1)), ten)).close();
    expect(budget.held).toEqual(NOTHING);
  });

  test('that breaks off gives everything back and is the fault of its sender', async () => {
    const budget = new BodyBudget({ ...ROOMY, memoryBytes: 3 });
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(100_000);
      throw new Error('aborted');
    }
    await expect(receive(budget, broken())).rejects.toMatchObject({ code: 'malformed_request' });
    expect(budget.held).toEqual(NOTHING);
  });
});
