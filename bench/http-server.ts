/**
 * A server of the HTTP benchmark, forked by http.ts: `fullmatch <document>` is a host of the service on its listener,
 * `bare <document>` the same answers, byte for byte, from a node:http handler that does nothing else. Sends its port to
 * its parent.
 */
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';

import { createApiApp } from '../src/http/api/api-app.ts';
import { Documents } from '../src/http/documents.ts';
import { listen } from '../src/http/listener.ts';
import { createRepositoryApp } from '../src/http/repository/repository-app.ts';
import { silentLogger } from '../src/log.ts';
import { fixtureDependencies, ROOMY_LIMITS } from '../test/support/http-fixture.ts';
import { syntheticChains, syntheticStatistics } from './http-documents.ts';

const [kind, document] = process.argv.slice(2);
const port = kind === 'bare' ? await serveBare() : await serveFullmatch();
process.send?.(port);
// Any message asks for the CPU time so far, in microseconds.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.on('disconnect', () => process.exit());

async function serveBare(): Promise<number> {
  const snapshot = await prepare();
  const notModified = snapshot.notModified.identity.record;
  // As a handler written for nothing else: what it sends is prepared and the client's wish is known beforehand.
  const server = createServer((request, response) => {
    if (request.headers['if-none-match'] !== undefined) {
      response.writeHead(304, notModified).end();
      return;
    }
    const accepted = request.headers['accept-encoding'];
    const { body, headers } =
      accepted === undefined ? snapshot.identity : accepted === 'br' ? snapshot.br! : snapshot.gzip;
    response.writeHead(200, headers.record).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function serveFullmatch(): Promise<number> {
  const documents = await publish();
  const deps = await fixtureDependencies({ documents, published: false });
  const app = document === 'chains' ? createApiApp(deps) : createRepositoryApp(deps);
  const options = { host: '127.0.0.1', port: 0, limits: ROOMY_LIMITS };
  return (await listen(app, options, silentLogger)).port;
}

async function publish(): Promise<Documents> {
  const documents = new Documents(silentLogger, { brotliDelayMs: 0 });
  const lastModified = new Date(0);
  await documents.publish({
    chains: { bytes: syntheticChains(), lastModified },
    statistics: { bytes: syntheticStatistics(), lastModified },
  });
  while (
    documents.current.chains?.br === undefined ||
    documents.current.statistics?.br === undefined
  ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return documents;
}

async function prepare() {
  const { chains, statistics } = (await publish()).current;
  return document === 'chains' ? chains! : statistics!;
}
