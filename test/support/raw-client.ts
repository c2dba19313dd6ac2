import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A response that takes longer counts as missing; a shared machine may be slow. */
const TIMEOUT_MS = 60_000;

/** An HTTP response as received. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A test's TCP connection that sends the given bytes unchanged and keeps everything received. */
export class RawClient {
  readonly socket: Socket;
  readonly #heard: Buffer[] = [];
  /** The number of received bytes. */
  heardBytes = 0;
  /** The error code with which the connection ended: `ECONNRESET`, or undefined for a clean end. */
  error: string | undefined;
  ended = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => {
      this.#heard.push(chunk);
      this.heardBytes += chunk.byteLength;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => (this.error = error.code));
    socket.on('end', () => (this.ended = true));
    socket.on('close', () => (this.ended = true));
  }

  /** Connects to a port of this machine, optionally from a given address. */
  static async connect(port: number, localAddress?: string): Promise<RawClient> {
    const from = localAddress === undefined ? {} : { localAddress };
    const socket = connect({ port, host: '127.0.0.1', ...from });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  /** Everything received. */
  get heard(): string {
    return Buffer.concat(this.#heard).toString('latin1');
  }

  send(text: string | Buffer): this {
    this.socket.write(text);
    return this;
  }

  /** Waits until the server has closed its side; returns the milliseconds it took. */
  async end(timeoutMs = TIMEOUT_MS): Promise<number> {
    const start = performance.now();
    await waitUntil(() => this.ended, timeoutMs);
    return performance.now() - start;
  }

  /** Waits for this many complete responses. They have a Content-Length or no body. */
  async answers(count = 1, timeoutMs = TIMEOUT_MS): Promise<RawAnswer[]> {
    await waitUntil(() => parseAnswers(this.heard).length >= count || this.ended, timeoutMs);
    return parseAnswers(this.heard);
  }

  /** Waits for the next response. */
  async answer(): Promise<RawAnswer> {
    const [first] = await this.answers();
    if (first === undefined) throw new Error(`no answer but ${JSON.stringify(this.heard)}`);
    return first;
  }
}

/**
 * Waits for a condition.
 * @throws Error if it does not hold in time
 */
export async function waitUntil(condition: () => boolean, timeoutMs = TIMEOUT_MS): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > timeoutMs) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1) return answers;
    const [statusLine = '', ...lines] = rest.slice(0, headEnd).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const status = Number(statusLine.split(' ')[1]);
    const length = status === 304 || status === 204 ? 0 : Number(headers['content-length'] ?? 0);
    const body = rest.slice(headEnd + 4, headEnd + 4 + length);
    if (body.length < length) return answers;
    answers.push({ status, headers, body });
    rest = rest.slice(headEnd + 4 + length);
  }
}
