import { startWebServer, type WebServer } from './web-server.ts';

/** A test's Swarm gateway on 127.0.0.1, with Bee's interface (`/bytes`) or that of the first Swarm (`/bzz-raw:`). */
export interface SwarmGateway extends WebServer {
  /** Hash in hex → content, matching or not. */
  readonly contents: Map<string, Uint8Array>;
  /** The path of each request so far. */
  readonly asked: readonly string[];
}

/** Starts a Swarm gateway with one of the interfaces. */
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
