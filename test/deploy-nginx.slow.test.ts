// deploy/nginx.conf in a real nginx in front of the service.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { loadConfig } from '../src/config/load-config.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { configSources } from './support/config-sources.ts';
import { findFreePort } from './support/free-port.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const run = promisify(execFile);
const readDeployed = (): Promise<string> =>
  readFile(new URL('../deploy/nginx.conf', import.meta.url), 'utf8');
const has = (program: string): boolean =>
  spawnSync(program, ['-v'], { stdio: 'ignore' }).error === undefined;
/** Waiting time before the first test. */
const WAIT = { timeout: 60_000, interval: 50 } as const;

describe.skipIf(!has('nginx') || !has('openssl'))(
  'nginx (skipped without nginx or openssl)',
  () => {
    const NAMES = { api: 'verify.example.org', repository: 'repository.example.org' };
    let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
    let database: TestDatabase;
    let service: BootedService;
    let port: number;
    let stop: (() => Promise<void>) | undefined;

    /** Starts nginx with the file from deploy/, replacing its certificate, its ports and the upstream ports. */
    async function startNginx(ports: {
      api: string;
      repository: string;
    }): Promise<() => Promise<void>> {
      const certificate = path.join(folder.path, 'certificate.pem');
      const key = path.join(folder.path, 'key.pem');
      await run('openssl', [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
        ...['-days', '2', '-subj', '/CN=example.org', '-keyout', key, '-out', certificate],
      ]);
      const text = (await readDeployed())
        .replaceAll('127.0.0.1:5555', `127.0.0.1:${ports.api}`)
        .replaceAll('127.0.0.1:10000', `127.0.0.1:${ports.repository}`)
        .replaceAll('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
        .replaceAll(/ssl_certificate \S+;/g, `ssl_certificate ${certificate};`)
        .replaceAll(/ssl_certificate_key \S+;/g, `ssl_certificate_key ${key};`);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${folder.path}/${name};`,
      );
      const file = path.join(folder.path, 'nginx.conf');
      await writeFile(
        file,
        `daemon off;\nmaster_process off;\npid ${folder.path}/nginx.pid;\nerror_log stderr warn;\nevents {}
http {\naccess_log off;\nlimit_req_log_level info;\nlimit_conn_log_level info;\n${temporary.join('\n')}\n${text}\n}\n`,
      );
      const args = ['-c', file, '-p', folder.path];
      const { stderr } = await run('nginx', ['-t', ...args]);
      expect(stderr).toContain('test is successful');
      const child = spawn('nginx', args, { stdio: ['ignore', 'ignore', 'inherit'] });
      const ended = once(child, 'exit');
      const close = async (): Promise<void> => {
        child.kill('SIGTERM');
        await ended;
      };
      try {
        await vi.waitFor(() => ask(NAMES.api, '/healthz'), WAIT);
      } catch (error) {
        await close();
        throw error;
      }
      return close;
    }

    interface Answer {
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly text: string;
    }

    /** Requests a path of a site from nginx. */
    async function ask(
      site: string,
      at: string,
      more: {
        headers?: Record<string, string>;
        untilText?: string;
        method?: string;
        body?: string;
      } = {},
    ): Promise<Answer> {
      return new Promise((resolve, reject) => {
        const options = {
          ...{
            host: '127.0.0.1',
            port,
            path: at,
            servername: site,
            rejectUnauthorized: false,
            agent: false as const,
          },
          method: more.method ?? 'GET',
          headers: { host: site, ...more.headers },
        };
        const outgoing = request(options, (response) => {
          let text = '';
          const finish = (): void =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
            if (more.untilText === undefined || !text.includes(more.untilText)) return;
            finish();
            outgoing.destroy();
          });
          response.on('end', finish);
        });
        outgoing.on('error', reject);
        outgoing.end(more.body);
      });
    }

    beforeAll(async () => {
      folder = await createTemporaryFolder();
      await mkdir(path.join(folder.path, 'logs'));
      database = await createTestDatabase();
      port = await findFreePort();
      service = await bootService({
        databaseUrl: database.url,
        yaml: `api: { publicUrl: "https://www.example.org/server" }
repository: { publicUrl: "https://repository.example.org" }
http: { trustedProxies: [127.0.0.1] }
events: { maxClients: 4 }`,
      });
      stop = await startNginx({
        api: new URL(service.apiUrl).port,
        repository: new URL(service.repositoryUrl).port,
      });
    });
    afterAll(async () => {
      await stop?.();
      await service.close();
      await database.drop();
      await folder.remove();
    });

    test('serves both documents on separate host names', async () => {
      const chains = await ask(NAMES.api, '/chains');
      expect(chains.status).toBe(200);
      expect(chains.text).toBe(await (await fetch(`${service.apiUrl}/chains`)).text());
      const statistics = await ask(NAMES.repository, '/stats.json');
      expect(statistics).toMatchObject({ status: 200, text: '{}' });
      const again = await ask(NAMES.api, '/chains', {
        headers: { 'if-none-match': chains.headers.etag ?? '' },
      });
      expect(again.status).toBe(304);
    });

    test('serves both documents below paths of one host, with links below the path', async () => {
      expect((await ask('www.example.org', '/server/chains')).status).toBe(200);
      expect(await ask('www.example.org', '/repository-files/stats.json')).toMatchObject({
        status: 200,
        text: '{}',
      });
      const page = await ask('www.example.org', '/server/', { headers: { accept: 'text/html' } });
      expect(page.status).toBe(200);
      const links = [...page.text.matchAll(/(?:href|src)="([^"#?]+)"/g)].map(
        ([, link = '']) => new URL(link, 'https://www.example.org/server/'),
      );
      const own = links.filter(({ host }) => host === 'www.example.org');
      expect(own.length).toBeGreaterThan(3);
      for (const { pathname } of own) {
        expect(pathname).toMatch(/^\/server\//);
        expect((await ask('www.example.org', pathname)).status).toBe(200);
      }
    });

    test('streams events immediately and proxies a verification with its response', async () => {
      const stream = await ask(NAMES.api, '/v1/events', {
        headers: { accept: 'text/event-stream' },
        untilText: '\n',
      });
      expect(stream.status).toBe(200);
      expect(stream.headers['content-type']).toMatch(/^text\/event-stream/);
      const refused = await ask(
        NAMES.api,
        '/v2/verify/1/0x0000000000000000000000000000000000000001',
        {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        },
      );
      expect(refused.status).toBe(400);
    });

    test('accepts bodies as large as the service does, and no larger', async () => {
      const { config } = loadConfig(configSources({}));
      const nginx = await readDeployed();
      for (const [, megabytes] of nginx.matchAll(/client_max_body_size (\d+)m;/g))
        expect(Number(megabytes) * 2 ** 20).toBe(config.verification.requestBytes);
    });

    test('returns 429 to an address that exceeds the rate, and serves it again later', async () => {
      const many = Array.from({ length: 300 }, () => ask(NAMES.api, '/healthz'));
      const statuses = new Set((await Promise.all(many)).map(({ status }) => status));
      expect(statuses).toEqual(new Set([200, 429]));
      await vi.waitFor(
        async () => expect((await ask(NAMES.api, '/healthz')).status).toBe(200),
        WAIT,
      );
    });

    test('forwards the real client address, ignoring forwarding headers of the client', async () => {
      const seen: IncomingHttpHeaders[] = [];
      const upstream = createServer((request, response) => {
        seen.push(request.headers);
        response.end('{}');
      });
      upstream.listen(0, '127.0.0.1');
      await once(upstream, 'listening');
      const behind = String((upstream.address() as AddressInfo).port);
      await stop?.();
      stop = await startNginx({ api: behind, repository: behind });
      // Without the requests that waited for its start.
      seen.splice(0);
      const headers = { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' };
      for (const [site, at] of [
        [NAMES.api, '/'],
        [NAMES.repository, '/'],
        ['www.example.org', '/server/chains'],
        ['www.example.org', '/repository-files/stats.json'],
      ] as const)
        await ask(site, at, { headers });
      upstream.close();
      upstream.closeAllConnections();
      expect(seen.map((each) => [each.host, each['x-forwarded-for'], each.forwarded])).toEqual([
        [NAMES.api, '127.0.0.1', undefined],
        [NAMES.repository, '127.0.0.1', undefined],
        ['www.example.org', '127.0.0.1', undefined],
        ['www.example.org', '127.0.0.1', undefined],
      ]);
    });
  },
);
