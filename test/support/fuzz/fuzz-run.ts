import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AnswerReader } from './answer-reader.ts';
import { faultOf } from './check-answer.ts';
import { makeRequest, type FuzzedRoute, type FuzzRequest } from './request-grammar.ts';

/** A request that the service did not handle correctly. */
export interface FuzzFailure {
  readonly index: number;
  readonly fault: string;
  readonly request: FuzzRequest;
}

/** The result of a run. */
export interface FuzzReport {
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly failures: readonly FuzzFailure[];
  readonly seconds: number;
}

/** Parameters of a run. */
export interface FuzzOptions {
  readonly routes: readonly FuzzedRoute[];
  readonly ports: Readonly<Record<FuzzRequest['host'], number>>;
  readonly seed: number;
  /** Number of requests and the index of the first. */
  readonly requests: number;
  readonly first?: number;
  /** Ends the run earlier. */
  readonly seconds?: number;
  readonly connections?: number;
  /** Response timeout; five seconds by default. */
  readonly timeoutMs?: number;
  readonly onFailure?: (failure: FuzzFailure) => void;
  /** Throws if the service is down. */
  readonly expectAlive?: () => void;
}

interface Numbered {
  readonly index: number;
  readonly request: FuzzRequest;
}

const DEFAULT_TIMEOUT_MS = 5_000;
/** A connection is reset after at most this many turns of the event loop. */
const RESET_AFTER_TURNS = 8;
const PIPELINED = 16;
const CONNECTIONS = 16;

class Run {
  readonly statuses: Record<string, number> = {};
  readonly failures: FuzzFailure[] = [];
  readonly #options: FuzzOptions;
  readonly #timeoutMs: number;

  constructor(options: FuzzOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  count(status: number | string): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }

  fail({ index, request }: Numbered, fault: string): void {
    const failure = { index, fault, request };
    this.failures.push(failure);
    this.#options.onFailure?.(failure);
  }

  /**
   * Sends requests on one connection and reads their responses.
   * @returns the requests that got no response because the connection was closed, which is permitted
   */
  async send(batch: readonly Numbered[]): Promise<readonly Numbered[]> {
    const [first] = batch;
    if (first === undefined) return [];
    const { framed, host, splitEvery } = first.request;
    const socket = connect({ host: '127.0.0.1', port: this.#options.ports[host] });
    const reader = new AnswerReader();
    let answered = 0;
    let said = false;
    let announced = false;
    const ended = new Promise<string>((resolve) => {
      let timer = setTimeout(() => resolve('timeout'), this.#timeoutMs);
      const finish = (how: string): void => {
        clearTimeout(timer);
        resolve(how);
      };
      socket.on('data', (chunk) => {
        said = true;
        // Each response has its own timeout: it is not blamed for those before it on the connection.
        clearTimeout(timer);
        timer = setTimeout(() => resolve('timeout'), this.#timeoutMs);
        reader.push(chunk);
        try {
          for (;;) {
            const current = batch[answered];
            if (current === undefined) break;
            const { method, endless } = current.request;
            const answer = reader.next(method === 'HEAD' || endless);
            if (answer === undefined) break;
            this.count(answer.status);
            const fault = faultOf(current.request, answer);
            if (fault !== undefined) this.fail(current, fault);
            announced ||= answer.headers.get('connection')?.toLowerCase() === 'close';
            if (framed) answered += 1;
            if (endless && !framed) finish('answered');
          }
        } catch (error) {
          const current = batch[answered] ?? first;
          // An invalid request may shift which request a response belongs to.
          if (framed) this.fail(current, (error as Error).message);
          finish('broken');
        }
        if (framed && answered === batch.length) finish('answered');
      });
      socket.on('end', () => finish('closed'));
      socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? 'error'));
      socket.on('close', () => finish('closed'));
    });
    await this.#write(socket, batch, splitEvery);
    // An incomplete request can only be ended by closing the connection.
    if (!framed) socket.end();
    const how = await ended;
    socket.destroy();
    if (how === 'timeout' && batch.length === 1)
      this.fail(batch[answered] ?? first, `not answered within ${this.#timeoutMs} ms`);
    if (!framed) {
      if (!said) this.count('closed');
      return [];
    }
    if (how === 'ECONNREFUSED') this.fail(first, 'the service takes no connections');
    const rest = batch.slice(answered);
    if (how === 'timeout' && batch.length === 1) return [];
    if (rest.length > 0 && !announced && answered === 0 && batch.length === 1) {
      this.fail(first, `the connection ended without an answer (${how})`);
      return [];
    }
    return rest;
  }

  /**
   * Sends a request and resets its connection soon afterwards. No response is expected; the service must keep
   * working.
   */
  async reset({ index, request }: Numbered): Promise<void> {
    const socket = connect({ host: '127.0.0.1', port: this.#options.ports[request.host] });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined).resume();
    socket.write(request.bytes);
    for (let turns = index % RESET_AFTER_TURNS; turns >= 0; turns -= 1) await nextTurn();
    socket.resetAndDestroy();
    await closed;
    this.count('reset');
  }

  async #write(
    socket: ReturnType<typeof connect>,
    batch: readonly Numbered[],
    splitEvery: number,
  ): Promise<void> {
    if (splitEvery === 0) {
      socket.write(Buffer.concat(batch.map(({ request }) => request.bytes)));
      return;
    }
    socket.setNoDelay(true);
    for (const { request } of batch) {
      for (let place = 0; place < request.bytes.length; place += splitEvery) {
        if (socket.destroyed) return;
        socket.write(request.bytes.subarray(place, place + splitEvery));
        await nextTurn();
      }
    }
  }
}

/** Sends malformed requests and checks every response. The same seed and index produce the same request. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const {
    routes,
    seed,
    requests,
    first = 0,
    seconds = Infinity,
    connections = CONNECTIONS,
  } = options;
  const run = new Run(options);
  const begun = performance.now();
  const deadline = begun + seconds * 1000;
  let next = first;
  let sent = 0;
  const work = async (): Promise<void> => {
    while (next < first + requests && performance.now() < deadline) {
      options.expectAlive?.();
      const batches: Record<FuzzRequest['host'], Numbered[]> = { api: [], repository: [] };
      const alone: Numbered[] = [];
      while (next < first + requests && batches.api.length < PIPELINED) {
        const index = (next += 1) - 1;
        const request = makeRequest(routes, seed, index);
        sent += 1;
        if (request.framed) batches[request.host].push({ index, request });
        else alone.push({ index, request });
      }
      for (let batch of [batches.api, batches.repository]) {
        while (batch.length > 0) {
          const rest = await run.send(batch);
          // If none was answered, the first is retried alone, so that a failure is its own.
          if (rest.length === batch.length && batch.length > 1) {
            await run.send(batch.slice(0, 1));
            batch = batch.slice(1);
          } else batch = [...rest];
        }
      }
      await Promise.all(alone.map((each) => run.send([each])));
      await Promise.all(alone.map((each) => run.reset(each)));
    }
  };
  await Promise.all(
    Array.from({ length: Math.min(connections, Math.ceil(requests / PIPELINED)) }, work),
  );
  return {
    requests: sent,
    statuses: run.statuses,
    failures: run.failures,
    seconds: (performance.now() - begun) / 1000,
  };
}

/** Describes a failure readably and reproducibly. */
export function describeFailure(seed: number, { index, fault, request }: FuzzFailure): string {
  return `--seed ${seed} --index ${index} ${request.host} ${request.method} ${request.target.slice(0, 200)}\n  ${fault}\n  ${JSON.stringify(request.bytes.toString('latin1'))}`;
}
