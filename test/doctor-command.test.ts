// `fullmatch doctor` on healthy set-ups and on set-ups with one fault each.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sql } from '../src/store/database.ts';
import { startBinariesMirror } from './support/binaries-mirror.ts';
import { PROGRAM, startProgram } from './support/booted-service.ts';
import { startRpcServer, type RpcServer } from './support/rpc-server.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { writeUsedData } from './support/used-data.ts';
import { createTestDatabase } from './support/test-database.ts';

interface Finding {
  readonly area: string;
  readonly level: 'ok' | 'unknown' | 'warning' | 'fault';
  readonly code: string;
  readonly message: string;
  readonly fix?: string;
}
interface Report {
  readonly healthy: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly findings: readonly Finding[];
}

const V20 = '0.8.20+commit.a1b79de6';
const cleanUps: (() => Promise<unknown>)[] = [];
let folder: string;
let removeFolder: () => Promise<void>;
beforeEach(async () => {
  ({ path: folder, remove: removeFolder } = await createTemporaryFolder());
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  await removeFolder();
});

const FREE_PORTS = { FULLMATCH_API_PORT: '0', FULLMATCH_REPOSITORY_PORT: '0' };

/** Runs the doctor with a configuration in the test's folder. */
async function examine(yaml: string, environment: Record<string, string> = FREE_PORTS) {
  await writeFile(path.join(folder, 'fullmatch.yaml'), yaml);
  const surroundings = { workingDirectory: folder, environment };
  const { exitCode, stdout, stderr } = await runInProcess(['doctor', '--json'], surroundings);
  const report = JSON.parse(stdout) as Report;
  const { findings } = report;
  const of = (...levels: string[]) => findings.filter(({ level }) => levels.includes(level));
  const codes = (...levels: string[]) => of(...levels).map(({ area, code }) => `${area}: ${code}`);
  expect(report.healthy).toBe(of('fault').length === 0);
  const worst = of('fault').length > 0 ? 2 : of('warning').length > 0 ? 1 : 0;
  expect(exitCode).toBe(worst);
  // Open items include a fix; the message of a rejection contains it itself.
  for (const { fix, message } of of('warning', 'fault')) expect(fix ?? message).toMatch(/\S{3}/);
  return {
    exitCode,
    stdout,
    stderr,
    report,
    findings,
    faults: codes('fault'),
    warnings: codes('warning'),
  };
}

/** Returns names, sizes and times of everything in a folder. */
async function listFolder(): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true });
  return Promise.all(
    names.sort().map(async (name) => {
      const { size, mtimeMs, mode } = await stat(path.join(folder, name));
      return `${name} ${size} ${mtimeMs} ${mode}`;
    }),
  );
}

async function takePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(async () => server.close());
  return (server.address() as { port: number }).port;
}

async function startNode(chainId: number): Promise<RpcServer> {
  const timestamp = `0x${Math.floor(Date.now() / 1000).toString(16)}`;
  const block = { number: '0x10', timestamp, hash: `0x${'1'.repeat(64)}`, transactions: [] };
  const node = await startRpcServer({
    eth_chainId: () => `0x${chainId.toString(16)}`,
    eth_getBlockByNumber: () => block,
  });
  cleanUps.push(node.close);
  return node;
}

describe('fullmatch doctor', () => {
  test('finds no fault in a fresh set-up and leaves the folder unchanged', async () => {
    const node = await startNode(31_337);
    const yaml = `chains: { 31337: { local: true, rpc: ["${node.url}"] } }`;
    await writeFile(path.join(folder, 'fullmatch.yaml'), yaml);
    const before = await readdir(folder);
    const { faults, findings } = await examine(yaml);
    expect(faults).toEqual([]);
    expect(await readdir(folder)).toEqual(before);
    const areas = new Set(findings.map(({ area }) => area));
    for (const area of [
      'machine',
      'ports',
      'data directory',
      'database',
      'migrations',
      'disk',
      'clock',
    ])
      expect(areas).toContain(area);
    for (const area of ['compilers', 'mirror', 'chains', 'list', 'proxies', 'public urls'])
      expect(areas).toContain(area);
    expect(findings).toContainEqual(expect.objectContaining({ area: 'chains', level: 'ok' }));
    expect(findings).toContainEqual(
      expect.objectContaining({ area: 'database', level: 'unknown' }),
    );
  });

  test('checks the database and the self-reported health of a running service', async () => {
    const environment = { FULLMATCH_DATA_DIR: path.join(folder, 'data') };
    await writeUsedData(environment.FULLMATCH_DATA_DIR);
    const service = await startProgram({ environment, workingDirectory: folder });
    cleanUps.push(async () => {
      service.child.kill('SIGTERM');
      await service.ended;
    });
    const ports = {
      FULLMATCH_API_PORT: new URL(service.apiUrl).port,
      FULLMATCH_REPOSITORY_PORT: new URL(service.repositoryUrl).port,
    };
    const { faults, findings } = await examine('', { ...environment, ...ports });
    expect(faults).toEqual([]);
    for (const area of ['database', 'migrations', 'service', 'ports'])
      expect(findings).toContainEqual(expect.objectContaining({ area, level: 'ok' }));
    expect(findings.filter(({ level }) => level === 'unknown')).toEqual([]);
    // The ports are in use by a service with another data directory.
    const elsewhere = await examine('', {
      FULLMATCH_DATA_DIR: path.join(folder, 'other'),
      ...ports,
    });
    expect(elsewhere.faults).toEqual(['ports: port_unavailable', 'ports: port_unavailable']);
    expect((await fetch(`${service.apiUrl}/readyz`)).status).toBe(200);
  });

  test('names the port in use by another process', async () => {
    const port = String(await takePort());
    const { exitCode, stderr, faults } = await examine('', {
      ...FREE_PORTS,
      FULLMATCH_API_PORT: port,
    });
    expect({ exitCode, faults }).toEqual({ exitCode: 2, faults: ['ports: port_unavailable'] });
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'installation_faulty',
      codes: ['port_unavailable'],
    });
  });

  test('names the invalid key and still checks the machine', async () => {
    const { exitCode, faults, findings } = await examine('apii: { port: 5 }');
    expect({ exitCode, faults }).toEqual({
      exitCode: 2,
      faults: ['configuration: unknown_configuration_key'],
    });
    expect(findings.some(({ area }) => area === 'machine')).toBe(true);
  });

  test('reports an unusable or unwritable data directory', async () => {
    await writeFile(path.join(folder, 'file'), '');
    const file = await examine('', {
      ...FREE_PORTS,
      FULLMATCH_DATA_DIR: path.join(folder, 'file/data'),
    });
    expect(file.exitCode).toBe(2);
    expect(file.faults).toContain('data directory: data_directory_unusable');
  });

  test.runIf(process.platform === 'linux')(
    'reports a file system that does not support the data directory, without blaming the disk',
    async () => {
      const { exitCode, faults } = await examine('', {
        ...FREE_PORTS,
        FULLMATCH_DATA_DIR: '/proc/x',
      });
      expect({ exitCode, faults }).toEqual({
        exitCode: 2,
        // It contains the compiler folder.
        faults: [
          'data directory: data_directory_unusable',
          'data directory: data_directory_unusable',
        ],
      });
    },
  );

  test('explains how to fix a database that does not respond', async () => {
    const { findings } = await examine('', {
      ...FREE_PORTS,
      DATABASE_URL: 'postgres://u:p@127.0.0.1:1/x',
    });
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'database_unreachable', fix: expect.any(String) as string }),
    );
  });

  test('checks the data directory as its user', async () => {
    const closed = path.join(folder, 'closed');
    await mkdir(closed, { mode: 0o755 });
    await chmod(closed, 0o555);
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const child = spawn(process.execPath, [PROGRAM, 'doctor', '--json'], {
      ...user,
      cwd: folder,
      env: { ...FREE_PORTS, FULLMATCH_DATA_DIR: closed, FULLMATCH_COMPILERS_DOWNLOAD_URL: 'off' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code).toBe(2);
    expect((JSON.parse(stdout) as Report).findings).toContainEqual(
      expect.objectContaining({ area: 'data directory', code: 'data_directory_unusable' }),
    );
  });

  test('distinguishes a database of a newer version from one to be migrated', async () => {
    const database = await createTestDatabase();
    cleanUps.push(() => database.drop());
    const environment = { ...FREE_PORTS, DATABASE_URL: database.url };
    const sound = await examine('', environment);
    expect(sound.faults).toEqual([]);
    expect(sound.findings).toContainEqual(
      expect.objectContaining({ area: 'migrations', level: 'ok' }),
    );
    const newest = sql(
      'test remove the newest migration',
      `DELETE FROM schema_migrations WHERE number = (SELECT max(number) FROM schema_migrations)
       RETURNING number`,
    );
    const [removed] = await database.database.query<{ number: number }>(newest);
    const older = await examine('', environment);
    expect(older).toMatchObject({ faults: [] });
    expect(older.warnings).toContain('migrations: migrations_pending');
    await database.database.query(
      sql(
        'test add a migration of the future',
        `INSERT INTO schema_migrations (number, name, sha256) VALUES ($1, 'later', '00')`,
      ),
      [removed!.number + 1],
    );
    const newer = await examine('', environment);
    expect(newer).toMatchObject({ exitCode: 2, faults: ['database: schema_too_new'] });
  });

  test('rejects data of a newer PostgreSQL without starting it', async () => {
    await mkdir(path.join(folder, 'fullmatch-data', 'postgres'), { recursive: true });
    await writeFile(path.join(folder, 'fullmatch-data', 'postgres', 'PG_VERSION'), '99\n');
    const before = await listFolder();
    const { exitCode, faults } = await examine('');
    expect({ exitCode, faults }).toEqual({
      exitCode: 2,
      faults: ['database: data_directory_too_new'],
    });
    expect((await listFolder()).filter((line) => !line.startsWith('fullmatch.yaml'))).toEqual(
      before,
    );
  });

  test('reports an unreachable database, without its password', async () => {
    const url = 'postgres://me:correct-horse@127.0.0.1:1/none';
    const { exitCode, faults, stdout } = await examine('', { ...FREE_PORTS, DATABASE_URL: url });
    expect({ exitCode, faults }).toEqual({
      exitCode: 2,
      faults: ['database: database_unreachable'],
    });
    expect(stdout).not.toContain('correct-horse');
  });

  test('reads every compiler and finds the damaged one', async () => {
    const compilers = path.join(folder, 'compilers');
    await mkdir(compilers);
    await writeFile(path.join(compilers, `soljson-v${V20}.js`), 'damaged');
    const { exitCode, faults, findings } = await examine('compilers: { folder: compilers }');
    expect(exitCode).toBe(2);
    expect(faults).toEqual(['compilers: compiler_checksum_mismatch']);
    expect(findings.find(({ level }) => level === 'fault')?.message).toContain(
      `soljson-v${V20}.js`,
    );
    expect(await readFile(path.join(compilers, `soljson-v${V20}.js`), 'utf8')).toBe('damaged');
  });

  test('requests the compiler list of the mirror', async () => {
    const mirror = await startBinariesMirror([V20]);
    cleanUps.push(() => mirror.close());
    const environment = { ...FREE_PORTS, FULLMATCH_COMPILERS_DOWNLOAD_URL: mirror.url };
    const sound = await examine('', environment);
    expect(sound.findings).toContainEqual(expect.objectContaining({ area: 'mirror', level: 'ok' }));
    mirror.answer(404);
    expect((await examine('', environment)).faults).toEqual(['mirror: compiler_unavailable']);
    await mirror.close();
    cleanUps.pop();
    const gone = await examine('', environment);
    expect(gone).toMatchObject({ faults: [] });
    expect(gone.warnings).toContain('mirror: compiler_unavailable');
  });

  test('reports an endpoint of another chain and one that does not respond, without its key', async () => {
    const node = await startNode(31_337);
    const wrong = await examine(
      `chains: { 31338: { name: Mine, local: true, rpc: ["${node.url}"] } }`,
    );
    expect(wrong).toMatchObject({ exitCode: 2, faults: ['chains: wrong_chain'] });
    const down = await examine(
      'chains: { 31338: { name: Mine, local: true, privateRpc: ["http://127.0.0.1:1/${NODE_KEY}"] } }',
      { ...FREE_PORTS, NODE_KEY: 'correct-horse-battery' },
    );
    expect(down).toMatchObject({ exitCode: 2, faults: ['chains: endpoints_unhealthy'] });
    expect(down.stdout + down.stderr).not.toContain('correct-horse');
    const mine = await startNode(31_338);
    const half = await examine(
      `chains: { 31338: { name: Mine, local: true, rpc: ["${mine.url}", "http://127.0.0.1:1"] } }`,
    );
    expect(half).toMatchObject({ faults: [] });
    expect(half.warnings).toContain('chains: endpoints_unhealthy');
  });

  test('distinguishes an endpoint that rejects the key from one that rate-limits', async () => {
    let status = 401;
    const node = await startRpcServer({
      eth_chainId: (_params, response) => void response.writeHead(status).end(),
    });
    cleanUps.push(node.close);
    const yaml = `chains: { 31338: { name: Mine, local: true, rpc: ["${node.url}"] } }`;
    const refused = await examine(yaml);
    expect(refused).toMatchObject({ exitCode: 2, faults: ['chains: endpoints_unhealthy'] });
    expect(refused.findings.find(({ level }) => level === 'fault')?.fix).toContain('privateRpc');
    status = 429;
    const busy = await examine(yaml);
    expect(busy).toMatchObject({ faults: [] });
    expect(busy.warnings).toContain('chains: endpoints_unhealthy');
  });

  test('reports less free space than the configured minimum', async () => {
    const { exitCode, faults } = await examine(`database: { minFreeBytes: ${2 ** 50} }`);
    expect({ exitCode, faults }).toEqual({ exitCode: 2, faults: ['disk: disk_full'] });
  });

  test('warns of publicly bound hosts without a public URL', async () => {
    const { exitCode, warnings } = await examine('host: 0.0.0.0');
    expect(exitCode).toBe(1);
    expect(warnings.filter((code) => code === 'public urls: public_url_missing')).toHaveLength(2);
    const named = await examine(
      'host: 0.0.0.0\napi: { publicUrl: "http://127.0.0.1:1" }\nrepository: { enabled: false }',
    );
    expect(named.warnings).not.toContain('public urls: public_url_missing');
    expect(named.warnings).toContain('proxies: proxies_not_trusted');
  });

  test('rejects trusted proxies that anyone could impersonate', async () => {
    const { exitCode, faults } = await examine('http: { trustedProxies: [0.0.0.0/0] }');
    expect({ exitCode, faults }).toEqual({ exitCode: 2, faults: ['proxies: every_proxy_trusted'] });
  });

  test('prints the problems and their fixes as text', async () => {
    await writeFile(path.join(folder, 'fullmatch.yaml'), 'http: { trustedProxies: ["::/0"] }');
    const { exitCode, stdout, stderr } = await runInProcess(['doctor'], {
      workingDirectory: folder,
      environment: FREE_PORTS,
    });
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(/^proxies +FAULT .*\[every_proxy_trusted\]\n +→ http\.trustedProxies/m);
    expect(stderr).toContain('error[installation_faulty]');
  });
});

describe('fullmatch start', () => {
  test('warns of publicly bound hosts without a public URL', async () => {
    const database = await createTestDatabase();
    const service = await startProgram({
      environment: { DATABASE_URL: database.url, FULLMATCH_HOST: '0.0.0.0' },
      workingDirectory: folder,
    });
    const line = await service.waitForLine((text) => text.includes('public_url_missing'));
    service.child.kill('SIGTERM');
    await service.ended;
    await database.drop();
    expect(JSON.parse(line)).toMatchObject({
      level: 40,
      keys: ['api.publicUrl', 'repository.publicUrl'],
    });
  });
});
