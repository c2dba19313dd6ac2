import { processorTimeOf } from '../test/support/processor-time.ts';
import { sendRequests } from './raw-client.ts';

/** A server to measure, and its process. */
export interface Server {
  readonly url: string;
  readonly pid: number;
}

/** Throughput of a server, and the processor time of its process for each request. */
export interface Fired {
  readonly perSecond: number;
  readonly cpuMs: number;
}

/** Sends requests to a server and measures its process. @throws Error if a request fails */
export async function measureRequests(
  { url, pid }: Server,
  load: Omit<Parameters<typeof sendRequests>[0], 'url'>,
): Promise<Fired> {
  const before = await processorTimeOf(pid);
  const { total, failed } = await sendRequests({ url, ...load });
  if (failed > 0) throw new Error(`${url}: ${failed} requests failed`);
  return {
    perSecond: total / load.seconds,
    cpuMs: ((await processorTimeOf(pid)) - before) / total,
  };
}
