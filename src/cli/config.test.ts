import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runInProcess } from '../../test/support/run-cli.ts';
import { SETTINGS } from '../config/settings.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'fullmatch-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

writeFileSync(
  path.join(folder, 'fullmatch.yaml'),
  `api: { port: 7000 }
chains:
  1:
    rpc: [https://user:hunter2-hunter2@rpc.example/path]
    privateRpc: ["https://rpc.example/\${RPC_KEY}"]
`,
);
const DATABASE_URL = 'postgres://user:correct-horse@db.example/x';
const environment = { DATABASE_URL, RPC_KEY: 'battery-staple', FULLMATCH_LOG_LEVEL: 'warn' };
const surroundings = { environment, workingDirectory: folder };
const secrets = ['correct-horse', 'battery-staple', 'hunter2'];

describe('fullmatch config print', () => {
  test('prints every key with its value and origin', async () => {
    const { stdout, exitCode } = await runInProcess(
      ['config', 'print', '--host', '::1'],
      surroundings,
    );
    expect(exitCode).toBe(0);
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(rows.slice(1, -2).map(([key]) => key)).toEqual([...SETTINGS.keys()]);
    const find = (key: string) => rows.find(([first]) => first === key)?.slice(1);
    expect(find('host')).toEqual(['flag --host', '::1']);
    expect(find('api.port')).toEqual(['fullmatch.yaml', '7000']);
    expect(find('log.level')).toEqual(['environment FULLMATCH_LOG_LEVEL', 'warn']);
    expect(find('database.url')).toEqual(['environment DATABASE_URL', '***']);
    expect(find('registry.list')).toEqual(['default', '-']);
    expect(find('dataDir')).toEqual(['default', path.join(folder, 'fullmatch-data')]);
    expect(find('chains.1')?.at(0)).toBe('fullmatch.yaml');
  });

  test('prints the same as JSON', async () => {
    const { stdout } = await runInProcess(['config', 'print', '--json'], surroundings);
    const printed = JSON.parse(stdout) as { settings: object; chains: object };
    expect(Object.keys(printed.settings)).toEqual([...SETTINGS.keys()]);
    expect(printed).toMatchObject({
      file: 'fullmatch.yaml',
      settings: {
        'api.port': { value: 7000, origin: 'fullmatch.yaml' },
        'api.publicUrl': { value: null, origin: 'default' },
        'database.url': { value: '***', origin: 'environment DATABASE_URL' },
      },
      chains: { 1: { value: { privateRpc: ['***'] }, origin: 'fullmatch.yaml' } },
    });
  });

  test.each([
    ['config', 'print'],
    ['config', 'print', '--json'],
    ['config', 'check'],
    ['chains', 'show', '1'],
  ])('prints no secrets: %s %s %s', async (...args) => {
    const { stdout, stderr } = await runInProcess(args.filter(Boolean), surroundings);
    for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
  });
});

describe('fullmatch config check', () => {
  test('reports a valid configuration', async () => {
    expect((await runInProcess(['config', 'check'], surroundings)).exitCode).toBe(0);
    const { stdout } = await runInProcess(['config', 'check', '--json'], surroundings);
    expect(JSON.parse(stdout)).toMatchObject({ sound: true, file: 'fullmatch.yaml', chains: 1 });
  });

  test('prints all problems, one per line, and exits 1', async () => {
    const { exitCode, stderr } = await runInProcess(
      ['config', 'check', '--config', 'none.yaml', '--api-port', 'x', '--log-level', 'loud'],
      surroundings,
    );
    expect(exitCode).toBe(1);
    expect(stderr.match(/^ {2}flag /gm)).toHaveLength(3);
  });
});

test('fullmatch config example prints fullmatch.example.yaml', async () => {
  const example = new URL('../../fullmatch.example.yaml', import.meta.url);
  const { stdout } = await runInProcess(['config', 'example']);
  expect(stdout).toBe(readFileSync(example, 'utf8'));
});
