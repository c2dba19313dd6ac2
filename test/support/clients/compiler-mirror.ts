import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import { createTemporaryFolder } from '../temporary-folder.ts';

/** Why a test that needs a mirror of the compiler list is skipped; undefined if one can be created. */
export const NO_MIRROR: string | undefined =
  spawnSync('openssl', ['version']).status === 0
    ? undefined
    : 'openssl, which makes the certificate, is not installed here';

const COMPILER_HOST = 'binaries.soliditylang.org';

/** The only server outside the test that its client can reach. */
export interface CompilerMirror {
  /** Environment that makes a client use this proxy and trust its certificate. */
  readonly environment: Readonly<Record<string, string>>;
  /** The hosts requested so far. */
  readonly hosts: ReadonlySet<string>;
  readonly close: () => Promise<void>;
}

/**
 * A proxy on 127.0.0.1 that serves only the host of the Solidity compilers, with its list of builds
 * (`/bin/list.txt`), in which forge looks up the commit of a version. Every other host is rejected.
 */
export async function startCompilerMirror(
  longVersions: readonly string[],
): Promise<CompilerMirror> {
  const folder = await createTemporaryFolder('fullmatch-mirror-');
  const certificate = path.join(folder.path, 'cert.pem');
  const key = path.join(folder.path, 'key.pem');
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-keyout', key, '-out', certificate, '-days', '2', '-subj', `/CN=${COMPILER_HOST}`],
      ...['-addext', `subjectAltName=DNS:${COMPILER_HOST}`],
      ...['-addext', 'basicConstraints=critical,CA:FALSE'],
    ],
    { stdio: 'ignore' },
  );
  const hosts = new Set<string>();
  const sockets = new Set<Socket>();
  const list = longVersions.map((version) => `soljson-v${version}.js\n`).join('');
  const site = createTlsServer(
    { key: await readFile(key), cert: await readFile(certificate) },
    (request, response) => {
      const found = request.url === '/bin/list.txt';
      response.writeHead(found ? 200 : 404).end(found ? list : '');
    },
  );
  const proxy = createServer((_, response) => response.writeHead(502).end());
  proxy.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  proxy.on('connect', (request, socket) => {
    const host = request.url ?? '';
    hosts.add(host.replace(/:443$/, ''));
    if (host !== `${COMPILER_HOST}:443`) {
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      return;
    }
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    site.emit('connection', socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  return {
    environment: { HTTPS_PROXY: `http://127.0.0.1:${port}`, SSL_CERT_FILE: certificate },
    hosts,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await folder.remove();
    },
  };
}
