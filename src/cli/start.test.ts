import { readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runInProcess, type CliRun, type CliSurroundings } from '../../test/support/run-cli.ts';
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

const FREE_PORTS = ['--api-port', '0', '--repository-port', '0'];

/** Starts the service, calls `whenReady` with the ready line, stops the service and returns its output. */
async function startAndStop(
  args: readonly string[],
  surroundings: CliSurroundings,
  whenReady: (line: string) => Promise<void> = async () => undefined,
): Promise<CliRun> {
  const controller = new AbortController();
  let seen: Promise<void> | undefined;
  const run = runInProcess(['start', ...FREE_PORTS, ...args], {
    ...surroundings,
    environment: { DATABASE_URL: testDatabase.url, ...surroundings.environment },
    workingDirectory: tmpdir(),
    signal: controller.signal,
    onStdout(text) {
      const line = text.split('\n').find((candidate) => candidate.includes('ready'));
      if (line === undefined || seen !== undefined || !text.endsWith('\n')) return;
      seen = whenReady(line).finally(() => controller.abort());
    },
  });
  const result = await run;
  await seen;
  return result;
}

describe('fullmatch start', () => {
  test('prints one JSON ready line, serves both documents and exits 0 on a signal', async () => {
    const { exitCode, stdout, stderr } = await startAndStop([], {}, async (line) => {
      const ready = JSON.parse(line) as { event: string; api_url: string; repository_url: string };
      expect(ready.event).toBe('ready');
      const chains = (await (await fetch(`${ready.api_url}/chains`)).json()) as unknown[];
      expect(chains.length).toBeGreaterThan(1000);
      expect(await (await fetch(`${ready.repository_url}/stats.json`)).json()).toEqual({});
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    const events = lines.map((line) => (JSON.parse(line) as { event?: string }).event);
    expect(events.filter((event) => event === 'ready')).toHaveLength(1);
    expect(events.slice(-2)).toEqual(['stopping', 'stopped']);
  });

  test('prints the ready line even with --log-level silent', async () => {
    const { stdout } = await startAndStop(['--log-level', 'silent'], {});
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ event: 'ready' });
  });

  test('prints readable text on a terminal', async () => {
    const { stdout } = await startAndStop([], { terminal: true });
    expect(stdout).toMatch(
      /^Fullmatch \S+ is ready\n\n {2}dashboard +http:\S+\/\n {2}chains +http:\S+\/chains +[\d,]+, \d+ of them supported\n {2}statistics +http:\S+\/stats\.json +0 verified contracts\n/m,
    );
    expect(stdout).toContain('npx fullmatch demo');
    expect(stdout).not.toContain('{');
  });

  test('omits a disabled host from the ready line', async () => {
    const environment = { FULLMATCH_API_ENABLED: 'false' };
    const { stdout } = await startAndStop(['--log-level', 'silent'], { environment });
    expect(JSON.parse(stdout)).not.toHaveProperty('api_url');
    expect(JSON.parse(stdout)).toHaveProperty('repository_url');
  });

  test('exits cleanly when stopped before it is ready', async () => {
    const { exitCode, stdout } = await runInProcess(['start', ...FREE_PORTS], {
      environment: { DATABASE_URL: testDatabase.url },
      workingDirectory: tmpdir(),
      signal: AbortSignal.abort(),
    });
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain('"ready"');
  });

  test('exits with an error if a port is in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const { exitCode, stderr } = await startAndStop(['--api-port', String(port)], {});
    taken.close();
    expect(exitCode).toBe(1);
    expect(stderr).toContain('error[port_unavailable]');
  });

  test.each(['api', 'repository', 'metrics', 'operator'] as const)(
    'creates no database if the port of %s is in use',
    async (host) => {
      const taken = createServer();
      await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
      const { port } = taken.address() as { port: number };
      const folder = await createTemporaryFolder();
      const ports = { api: 0, repository: 0, [host]: port };
      const sections = Object.entries(ports).map(
        ([name, value]) => `${name}: { port: ${value}, enabled: true }`,
      );
      await writeFile(path.join(folder.path, 'fullmatch.yaml'), sections.join('\n'));
      const { exitCode, stderr } = await runInProcess(['start'], {
        environment: { FULLMATCH_DATA_DIR: path.join(folder.path, 'data') },
        workingDirectory: folder.path,
      });
      taken.close();
      expect(exitCode).toBe(1);
      expect(stderr).toContain('error[port_unavailable]');
      expect(await readdir(folder.path)).toEqual(['fullmatch.yaml']);
      await folder.remove();
    },
  );
});
