import { startWebServer, type WebServer } from './web-server.ts';

/** A gateway of Swarm of a test on 127.0.0.1: Bee's interface (`/bytes`), or that of the first Swarm (`/bzz-raw:`). */
export interface SwarmGateway extends WebServer {
  /** Hash in hex → content, whether it fits or not. */
  readonly contents: Map<string, Uint8Array>;
  /** The path of each request so far. */
  readonly asked: readonly string[];
}

/** Starts a gateway of Swarm that has one of the interfaces. */
export async function startSwarmGateway(api: 'bytes' | 'bzz-raw'): Promise<SwarmGateway> {
  const contents = new Map<string, Uint8Array>();
  const asked: string[] = [];
  const path = api === 'bytes' ? /^\/bytes\/([0-9a-f]{64})$/ : /^\/bzz-raw:\/([0-9a-f]{64})\/$/;
  const server = await startWebServer((request, response) => {
    asked.push(request.url ?? '');
    const [, hash = ''] = path.exec(request.url ?? '') ?? [];
    const content = contents.get(hash);
    response.statusCode = content === undefined ? 404 : 200;
    response.end(content);
  });
  return { ...server, contents, asked };
}
