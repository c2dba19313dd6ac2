import { readFile, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../src/lib/secret.ts';
import { silentLogger } from '../src/log.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { connectClient } from '../src/store/connection-target.ts';
import { type EmbeddedServer, openEmbeddedServer } from '../src/store/embedded/embedded-server.ts';
import { openStore } from '../src/store/open-store.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { listProcesses } from './support/child-processes.ts';
import { testDatabaseUrl } from './support/global-setup.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { writeUsedData } from './support/used-data.ts';

const DATABASE = 'fullmatch';
const ADDRESS = sampleAddress(1);

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let server: EmbeddedServer;
let service: BootedService;

beforeAll(async () => {
  folder = await createTemporaryFolder();
  const dataDir = path.join(folder.path, 'data');
  await writeUsedData(dataDir);
  const options = { dataDir, applicationName: 'fullmatch test' };
  server = await openEmbeddedServer(options, silentLogger);
  const url = testDatabaseUrl(server.socketFolder, DATABASE);
  const store = await openStore({ url: new Secret(url), poolSize: 2, dataDir }, silentLogger);
  await saveMatch(store.database, sampleContract(1, ADDRESS, { runtimeMatch: 'full' }));
  await store.close();
  service = await bootService({
    databaseUrl: url,
    yaml: 'chains: { 1: { supported: true } }\nhealth: { enabled: false }\n',
  });
});
afterAll(async () => {
  await service.close();
  await server.close();
  await folder.remove();
});

interface Answer {
  readonly status: number;
  readonly code?: string;
  readonly reasons: readonly string[];
}

async function ask(target: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(target, init);
  const text = await response.text();
  const body = (response.headers.get('content-type') ?? '').includes('json')
    ? (JSON.parse(text) as { code?: string; customCode?: string; reasons?: { code: string }[] })
    : {};
  // API v2 has its own name for the code.
  const code = body.code ?? body.customCode;
  return {
    status: response.status,
    ...(code !== undefined && { code }),
    reasons: body.reasons?.map(({ code }) => code) ?? [],
  };
}

const read = (): Promise<Answer> => ask(`${service.apiUrl}/v2/contract/1/${ADDRESS}?fields=all`);
const ready = (): Promise<Answer> => ask(`${service.apiUrl}/readyz`);
const submit = (): Promise<Answer> =>
  ask(`${service.apiUrl}/v2/verify/1/${sampleAddress(2)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      stdJsonInput: {
        language: 'Solidity',
        sources: { 'a.sol': { content: 'contract A {}' } },
        settings: {},
      },
      compilerVersion: '0.8.37',
      contractIdentifier: 'a.sol:A',
    }),
  });

/** The postmaster and its children. */
async function serverProcesses(): Promise<readonly number[]> {
  const all = await listProcesses();
  const children = all.filter(({ parent }) => parent === server.processId);
  return [server.processId, ...children.map(({ pid }) => pid)];
}

async function signalServer(signal: NodeJS.Signals): Promise<void> {
  for (const pid of await serverProcesses()) process.kill(pid, signal);
}

describe.runIf(process.platform === 'linux')('a hanging database', () => {
  test('fails reads and submissions with 503, then immediately, and recovers', async () => {
    expect(await read()).toMatchObject({ status: 200 });
    expect(await ready()).toMatchObject({ status: 200 });
    await signalServer('SIGSTOP');
    try {
      const asked = [read(), submit(), read(), ...Array.from({ length: 30 }, read)];
      for (const answer of await Promise.all(asked)) {
        expect(answer).toMatchObject({ status: 503, code: 'database_unreachable' });
      }
      // Immediately: each of these would wait for the statement timeout, and all of them for longer than the
      // test.
      for (let number = 0; number < 50; number += 1) {
        const answer = number % 2 === 0 ? await read() : await submit();
        expect(answer).toMatchObject({ status: 503, code: 'database_unreachable' });
      }
      expect(await ready()).toMatchObject({ status: 503, reasons: ['database_unreachable'] });
      expect((await ask(`${service.apiUrl}/chains`)).status).toBe(200);
      expect((await ask(`${service.repositoryUrl}/stats.json`)).status).toBe(200);
    } finally {
      await signalServer('SIGCONT');
    }
    await expect.poll(ready).toMatchObject({ status: 200, reasons: [] });
    expect(await read()).toMatchObject({ status: 200 });
  });
});

/** A TCP proxy in front of the server's socket, which can disappear like a server on another machine. */
async function openProxy(): Promise<{
  port: number;
  close(): Promise<void>;
  open(): Promise<void>;
}> {
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    const behind = connect(path.join(server.socketFolder, '.s.PGSQL.5432'));
    for (const each of [socket, behind]) {
      sockets.add(each);
      each
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(each);
          socket.destroy();
          behind.destroy();
        });
    }
    socket.pipe(behind).pipe(socket);
  });
  const open = async (port = 0): Promise<number> => {
    await once(proxy.listen(port, '127.0.0.1'), 'listening');
    return (proxy.address() as AddressInfo).port;
  };
  const port = await open();
  return {
    port,
    open: async () => {
      await open(port);
    },
    close: async () => {
      const closed = once(proxy, 'close');
      proxy.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

describe('an unreachable database', () => {
  test('leaves pages without its data, rejects contracts, and keeps serving documents, all at once', async () => {
    const proxy = await openProxy();
    const away = await bootService({
      databaseUrl: `postgres://fullmatch@127.0.0.1:${proxy.port}/${DATABASE}`,
      yaml: 'chains: { 1: { supported: true } }\nhealth: { enabled: false }\n',
    });
    const get = (target: string): Promise<Answer> => ask(`${away.apiUrl}${target}`);
    const contract = `/v2/contract/1/${ADDRESS}?fields=all`;
    expect(await get(contract)).toMatchObject({ status: 200 });
    await proxy.close();
    expect(await get(contract)).toMatchObject({ status: 503, code: 'database_unreachable' });
    await expect
      .poll(() => get('/readyz'))
      .toMatchObject({ status: 503, reasons: ['database_unreachable'] });
    // Each of these would wait seconds for the database, and all of them for longer than the test's timeout.
    for (let number = 0; number < 60; number += 1) {
      expect(await get(contract)).toMatchObject({ status: 503, code: 'database_unreachable' });
      expect(await get('/')).toMatchObject({ status: 200 });
      expect(await get(`/contract/1/${ADDRESS}`)).toMatchObject({ status: 503 });
    }
    expect(await get('/chains')).toMatchObject({ status: 200 });
    expect((await ask(`${away.repositoryUrl}/stats.json`)).status).toBe(200);
    await proxy.open();
    await expect.poll(() => get('/readyz')).toMatchObject({ status: 200, reasons: [] });
    expect(await get(contract)).toMatchObject({ status: 200 });
    await away.close();
    await proxy.close();
  });
});

describe('a damaged table', () => {
  /** Changes a database file while the server is stopped; the service restarts it. */
  async function whileStopped(work: () => Promise<void>): Promise<void> {
    const { processId } = server;
    process.kill(processId, 'SIGSTOP');
    process.kill(processId, 'SIGQUIT');
    await work();
    process.kill(processId, 'SIGCONT');
    await expect.poll(() => server.processId).not.toBe(processId);
  }

  test('makes the service not ready, with the reason, until repaired', async () => {
    const client = await connectClient(server.target(DATABASE));
    const { rows } = await client.query<{ file: string }>(
      `SELECT pg_relation_filepath('verified_contracts') AS file`,
    );
    await client.query('CHECKPOINT');
    await client.end();
    const file = path.join(server.folder, rows[0]?.file ?? '');
    const sound = await readFile(file);
    await whileStopped(() => writeFile(file, Buffer.alloc(sound.length, 0xa5)));
    await expect
      .poll(ready)
      .toMatchObject({ status: 503, code: 'not_ready', reasons: ['database_damaged'] });
    expect(await read()).toMatchObject({ status: 503, code: 'database_damaged' });
    expect((await ask(`${service.apiUrl}/chains`)).status).toBe(200);
    await whileStopped(() => writeFile(file, sound));
    await expect.poll(ready).toMatchObject({ status: 200, reasons: [] });
    expect(await read()).toMatchObject({ status: 200 });
  });

  test('makes the service not ready when the table is missing', async () => {
    const client = await connectClient(server.target(DATABASE));
    try {
      await expect.poll(ready).toMatchObject({ status: 200, reasons: [] });
      await client.query('ALTER TABLE sources RENAME TO hidden');
      await expect.poll(ready).toMatchObject({ status: 503, reasons: ['database_damaged'] });
      await client.query('ALTER TABLE hidden RENAME TO sources');
      await expect.poll(ready).toMatchObject({ status: 200, reasons: [] });
    } finally {
      await client.end();
    }
  });
});
