import { Agent, request } from 'node:http';
import { type LoadTally } from './context.ts';

/** A request of a load. */
export interface Shot {
  readonly port: number;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  /** Source address in 127.0.0.0/8. */
  readonly from?: string;
  /** Aborts the connection after this time. */
  readonly abortAfterMs?: number;
}

const agent = new Agent({ keepAlive: false, maxSockets: Infinity });

/** Sends a request; returns the status, or the error code without a response. */
export function shoot(shot: Shot): Promise<{ status: string; text: string }> {
  return new Promise((resolve) => {
    const { port, path, method = 'GET', headers = {}, body, from, abortAfterMs } = shot;
    let answered: string | undefined;
    const chunks: Buffer[] = [];
    const finish = (status: string): void =>
      resolve({ status, text: Buffer.concat(chunks).toString('utf8') });
    const outgoing = request(
      {
        ...{ host: '127.0.0.1', port, path, method, agent },
        headers: {
          ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
          ...headers,
        },
        ...(from !== undefined && { localAddress: from }),
      },
      (response) => {
        answered = String(response.statusCode);
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('close', () => finish(answered ?? 'closed'));
      },
    );
    outgoing.once('error', (error: NodeJS.ErrnoException) =>
      finish(answered ?? error.code ?? 'error'),
    );
    if (abortAfterMs !== undefined) {
      setTimeout(() => outgoing.destroy(), abortAfterMs).unref();
    }
    outgoing.end(body);
  });
}

/** Posts a value as JSON and reads the response like every other request. */
export const postJson = (
  shot: Omit<Shot, 'method' | 'body'>,
  body: unknown,
): ReturnType<typeof shoot> =>
  shoot({
    ...shot,
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...shot.headers },
  });

/** Counts statuses and collects acknowledged jobs. */
export class Tally implements LoadTally {
  readonly statuses: Record<string, number> = {};
  readonly jobs: string[] = [];
  note?: string;

  count({ status, text }: { status: string; text: string }): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (status !== '202') return;
    const { verificationId } = JSON.parse(text) as { verificationId: string };
    this.jobs.push(verificationId);
  }
}

/** Repeats work with this concurrency until the time is over. */
export async function repeat(
  seconds: number,
  workers: number,
  work: (round: number) => Promise<void>,
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  let round = 0;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (performance.now() < end) {
        round += 1;
        await Promise.race([work(round), sleep(Math.max(0, end - performance.now()))]);
      }
    }),
  );
}

/** Waits without keeping the process alive. */
export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
