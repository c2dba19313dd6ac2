import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  LOOPBACK_PORTS,
  PROGRAM,
  programEnvironment,
  runProgram,
  startProgram,
} from './support/booted-service.ts';
import { startRpcServer } from './support/rpc-server.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { writeUsedData } from './support/used-data.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

type Program = Awaited<ReturnType<typeof startProgram>>;
interface Health {
  readonly status: string;
  readonly reasons: readonly { code: string; detail: string; blocking: boolean; since?: string }[];
  readonly configuration: { readonly refused: boolean };
}
interface Reloaded {
  readonly services: readonly {
    readonly service: string;
    readonly taken: boolean;
    readonly changed: readonly string[];
    readonly restart: readonly string[];
    readonly code?: string;
    readonly reason?: string;
  }[];
  readonly silent: number;
}

const KEY = 'correct-horse-battery-staple-4711';
// No health probes: a node only receives verification requests.
const BASE =
  'health: { enabled: false }\nregistry: { include: configured, defaults: false, icons: icons }\n';

let database: TestDatabase;
let folder: string;
let removeFolder: () => Promise<void>;
let service: Program;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ path: folder, remove: removeFolder } = await createTemporaryFolder());
  await mkdir(path.join(folder, 'icons'));
  await configure('chains: { 5: { name: Five } }');
  service = await startProgram({ ...surroundings(), environment: environment() });
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  await database.drop();
  await removeFolder();
});

const environment = (): Record<string, string> => ({ DATABASE_URL: database.url });
const surroundings = () => ({ environment: environment(), workingDirectory: folder });
const configure = (text: string): Promise<void> =>
  writeFile(path.join(folder, 'fullmatch.yaml'), `${BASE}${text}\n`);
const get = async (at: string): Promise<unknown> => (await fetch(`${service.apiUrl}${at}`)).json();
const health = (): Promise<Health> => get('/health') as Promise<Health>;
const chains = async (): Promise<string> => (await fetch(`${service.apiUrl}/chains`)).text();

/** Sends SIGHUP and waits for the next line that reports the outcome. */
async function hangUp(): Promise<{ event: string; code?: string; error?: string }> {
  const before = service.lines.length;
  const isAnswer = (line: string): boolean =>
    service.lines.lastIndexOf(line) >= before && line.includes('"event":"configuration_re');
  service.child.kill('SIGHUP');
  return JSON.parse(await service.waitForLine(isAnswer)) as { event: string };
}

async function reload(...args: string[]): Promise<{ exit: number; out: string; err: string }> {
  const { exitCode, stdout, stderr } = await runInProcess(['reload', ...args], surroundings());
  return { exit: exitCode, out: stdout, err: stderr };
}

const noScript = !existsSync('/usr/bin/script');

describe('SIGHUP', () => {
  test.skipIf(noScript)(
    `from a closing terminal stops the service cleanly, with 0${noScript ? ' (no script(1))' : ''}`,
    async () => {
      const ending = path.join(folder, 'ending');
      // The shell outlives its terminal, is the only one notified of its end, and reports how the service
      // exited.
      const command = `trap 'kill -HUP $!' HUP; "$NODE" "$PROGRAM" start & wait; wait $!; echo $? > "$ENDING"`;
      const terminal = spawn('/usr/bin/script', ['-qc', command, '/dev/null'], {
        cwd: folder,
        env: programEnvironment({
          ...{ NODE: process.execPath, PROGRAM, ENDING: ending },
          ...{ ...LOOPBACK_PORTS, ...environment() },
        }),
      });
      let shown = '';
      terminal.stdout.on('data', (bytes: Buffer) => (shown += String(bytes)));
      await expect.poll(() => shown).toContain('is ready');
      terminal.kill('SIGKILL');
      await expect.poll(() => existsSync(ending) && readFileSync(ending, 'utf8')).toBe('0\n');
    },
  );

  test('applies a changed file: /chains changes', async () => {
    expect(await chains()).toContain('"name":"Five"');
    await configure('chains: { 5: { name: Changed }, 6: { name: Six } }');
    expect(await hangUp()).toMatchObject({
      event: 'configuration_reloaded',
      changed: ['chains.5', 'chains.6'],
    });
    expect(JSON.parse(await chains())).toMatchObject([{ name: 'Changed' }, { name: 'Six' }]);
  });

  test.each([
    ['is not YAML', 'chains: [', 'invalid_configuration'],
    ['has an unknown key', 'chian: {}', 'unknown_configuration_key'],
    [
      'lacks a variable',
      'chains: { 5: { privateRpc: ["https://a.example/${NONE}"] } }',
      'environment_variable_missing',
    ],
    [
      'would publish a secret',
      `chains: { 5: { rpc: ["https://a.example/${KEY}"], privateRpc: ["https://b.example/${KEY}"] } }`,
      'secret_in_document',
    ],
  ])(
    'keeps the old configuration when the file %s, and health says since when and why',
    async (_what, text, code) => {
      const before = await chains();
      await configure(text);
      const line = await hangUp();
      expect(line).toMatchObject({ event: 'configuration_refused', code });
      expect(line.error).not.toContain(KEY);
      expect(await chains()).toBe(before);
      const report = await health();
      expect(report.configuration.refused).toBe(true);
      const reason = report.reasons.find((each) => each.code === 'configuration_refused');
      expect(reason).toMatchObject({ blocking: false });
      expect(Date.now() - Date.parse(reason?.since ?? '')).toBeLessThan(60_000);
      expect((await fetch(`${service.apiUrl}/readyz`)).status).toBe(200);
    },
  );

  test('applies the corrected file, and health is good again', async () => {
    await configure('chains: { 5: { name: Mended } }');
    expect(await hangUp()).toMatchObject({ event: 'configuration_reloaded' });
    expect(JSON.parse(await chains())).toMatchObject([{ name: 'Mended' }]);
    expect(await health()).toMatchObject({ status: 'ok', configuration: { refused: false } });
  });

  test('lets the service reach a node named by the new file, and no longer after its removal', async () => {
    const head = { number: '0x1', hash: `0x${'1'.repeat(64)}`, timestamp: '0x1' };
    const node = await startRpcServer({
      eth_chainId: () => '0x7a69',
      eth_getBlockByNumber: () => head,
      eth_getBlockByHash: () => head,
      eth_syncing: () => false,
      eth_getCode: () => '0x',
    });
    const verify = async (): Promise<unknown> => {
      const body = {
        stdJsonInput: { language: 'Solidity', sources: { 'A.sol': { content: '' } }, settings: {} },
        compilerVersion: '0.8.37',
        contractIdentifier: 'A.sol:A',
      };
      const response = await fetch(`${service.apiUrl}/v2/verify/31337/0x${'1'.repeat(40)}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const { verificationId } = (await response.json()) as { verificationId?: string };
      for (;;) {
        const job = (await get(`/v2/verify/${verificationId}`)) as {
          isJobCompleted: boolean;
          error?: { customCode: string };
        };
        if (job.isJobCompleted) return job.error?.customCode;
      }
    };
    try {
      const entry = (rpc: string): string =>
        `chains: { 31337: { name: Local, local: true, quorum: 1, rpc: ["${rpc}"] } }`;
      await configure(entry(node.url));
      await hangUp();
      expect(await verify()).toBe('contract_not_deployed');
      expect(node.connections()).toBeGreaterThan(0);
      const asked = node.calls.length;
      await configure(entry('https://rpc.invalid/'));
      await hangUp();
      expect(await verify()).toBe('cannot_fetch_bytecode');
      expect(node.calls.length).toBe(asked);
    } finally {
      await node.close();
    }
  });
});

describe('fullmatch reload', () => {
  test('reports what was applied and what requires a restart', async () => {
    await configure('chains: { 7: { name: Seven } }\napi: { prefix: /other }');
    const { exit, out } = await reload('--json');
    expect(exit).toBe(0);
    const { services, silent } = JSON.parse(out) as Reloaded;
    expect(silent).toBe(0);
    expect(services).toMatchObject([
      { taken: true, changed: ['chains.7', 'chains.31337'], restart: ['api.prefix'] },
    ]);
    expect(services[0]?.service).toMatch(new RegExp(`/${service.child.pid}$`));
    const text = await reload();
    expect(text.out).toContain('changed: nothing');
    expect(text.out).toContain('waits for a restart: api.prefix');
  });

  test('shows pictures added to the folder', async () => {
    expect((await fetch(`${service.apiUrl}/v1/chains/7/icon`)).status).toBe(404);
    const page = async (): Promise<string> =>
      (await fetch(`${service.apiUrl}/registry/7`, { headers: { accept: 'text/html' } })).text();
    expect(await page()).not.toContain('<img');
    await writeFile(path.join(folder, 'icons', '7.svg'), '<svg/>');
    expect((await reload()).exit).toBe(0);
    expect(await (await fetch(`${service.apiUrl}/v1/chains/7/icon`)).text()).toBe('<svg/>');
    expect(await page()).toMatch(/<img class="chain-icon" src="[^"]*v1\/chains\/7\/icon" alt/);
  });

  test('reports why a service rejected the file and exits 1', async () => {
    const before = await chains();
    await configure(
      `chains: { 5: { infoURL: "https://a.example/${KEY}", privateRpc: ["https://b.example/${KEY}"] } }`,
    );
    const { exit, out, err } = await reload();
    expect(exit).toBe(1);
    expect(out).toContain('rejected: secret_in_document');
    expect(err).toContain('error[configuration_refused]');
    expect(`${out}${err}`).not.toContain(KEY);
    expect(await chains()).toBe(before);
  });

  test('keeps former secrets out of the documents of a later configuration', async () => {
    await configure(`chains: { 5: { privateRpc: ["https://b.example/${KEY}"] } }`);
    expect((await reload()).exit).toBe(0);
    await configure(`chains: { 5: { infoURL: "https://b.example/${KEY}" } }`);
    const { exit, out } = await reload();
    expect(exit).toBe(1);
    expect(out).toContain('secret_in_document');
    expect(await chains()).not.toContain(KEY);
    await configure('chains: {}');
    expect((await reload()).exit).toBe(0);
  });

  test('reaches every service of the database', async () => {
    const other = await startProgram(surroundings());
    try {
      const { out } = await reload('--json');
      const { services, silent } = JSON.parse(out) as Reloaded;
      expect([services.length, silent]).toEqual([2, 0]);
    } finally {
      other.child.kill('SIGTERM');
      await other.ended;
    }
  });

  test('rejects a file that it cannot read itself and contacts no service', async () => {
    const before = service.lines.length;
    await configure('chians: {}');
    const { exit, err } = await reload();
    expect([exit, err.includes('error[unknown_configuration_key]')]).toEqual([1, true]);
    expect(service.lines.length).toBe(before);
    await configure('chains: {}');
  });

  test('finds no service where none runs and creates nothing', async () => {
    const dataDir = path.join(folder, 'no-data');
    const embedded = runProgram(['reload', '--data-dir', dataDir], { workingDirectory: folder });
    expect([await embedded.ended, existsSync(dataDir)]).toEqual([1, false]);
    expect(embedded.stderr()).toContain('error[service_not_running]');
    const empty = await createTestDatabase();
    const elsewhere = runProgram(['reload'], {
      workingDirectory: folder,
      environment: { DATABASE_URL: empty.url },
    });
    expect(await elsewhere.ended).toBe(1);
    expect(elsewhere.stderr()).toContain('error[service_not_running]');
    await empty.drop();
  });

  test('finds a service on the embedded server by its data directory', async () => {
    const own = await createTemporaryFolder();
    await writeUsedData(path.join(own.path, 'fullmatch-data'));
    const started = await startProgram({ workingDirectory: own.path });
    try {
      const run = runProgram(['reload', '--json'], { workingDirectory: own.path });
      expect(await run.ended).toBe(0);
      expect((JSON.parse(run.lines.join('\n')) as Reloaded).services).toMatchObject([
        { taken: true },
      ]);
    } finally {
      started.child.kill('SIGTERM');
      await started.ended;
      await own.remove();
    }
  });
});
