import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A running bare counterpart. */
export interface BareServer {
  /** Its URL. */
  readonly url: string;
  readonly child: ChildProcess;
}

/** Starts a bare handler that sends a service's response at a URL, see bare-server.ts. */
export async function startBare(url: string): Promise<BareServer> {
  const file = fileURLToPath(new URL('bare-server.ts', import.meta.url));
  const child = fork(file, [url], { execArgv: ['--import', 'tsx'] });
  const [port] = (await once(child, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}/`, child };
}
