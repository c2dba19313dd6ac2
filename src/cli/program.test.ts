import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runInProcess } from '../../test/support/run-cli.ts';

const root = path.resolve(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  version: string;
};

describe('Command line', () => {
  test('prints its help to standard output without a command', async () => {
    for (const args of [[], ['--help'], ['help']]) {
      const { exitCode, stdout, stderr } = await runInProcess(args);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      for (const command of [
        'start',
        'import',
        'chains',
        'recount',
        'withdraw',
        'config',
        'version',
      ]) {
        expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
      }
    }
  });

  test('prints the help of a command for both spellings', async () => {
    for (const path of [['withdraw'], ['config'], ['config', 'check'], ['version']]) {
      const asked = await runInProcess([...path, '--help']);
      expect(asked).toMatchObject({ exitCode: 0, stderr: '' });
      expect(asked.stdout).toContain(`Usage: fullmatch ${path.join(' ')} `);
      expect(await runInProcess(['help', ...path])).toEqual(asked);
    }
    const { stdout } = await runInProcess(['help', 'withdraw']);
    for (const part of ['<chain>', '<address>', '--reason <text>', '--config']) {
      expect(stdout).toContain(part);
    }
    const unknown = await runInProcess(['help', 'strat']);
    expect(unknown).toMatchObject({ exitCode: 1, stdout: '' });
    expect(unknown.stderr).toMatch(/^error\[invalid_parameter\]: /);
  });

  test('prints its version', async () => {
    expect((await runInProcess(['--version'])).stdout).toBe(`${version}\n`);
    expect((await runInProcess(['version'])).stdout).toContain(version);
    const { stdout } = await runInProcess(['version', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ version, node: process.versions.node });
  });

  test.each([
    ['an unknown command', ['strat']],
    ['an unknown flag', ['start', '--prot', '1']],
    ['a flag without its value', ['start', '--api-port']],
    ['a missing argument', ['chains', 'show']],
    ['an argument too many', ['version', 'now']],
    ['a missing reason', ['withdraw', '1', '0x00']],
    ['a secret as a flag', ['start', '--database-url', 'postgres://u:p@h/d']],
  ])('rejects %s on standard error with exit code 1', async (_what, args) => {
    const { exitCode, stdout, stderr } = await runInProcess(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^error\[invalid_parameter\]: /);
  });

  test('suggests the closest command', async () => {
    expect((await runInProcess(['strat'])).stderr).toContain('start');
  });

  test('with --json prints errors as one object on standard output only', async () => {
    const environment = { FULLMATCH_HSOT: 'x' };
    const { exitCode, stdout, stderr } = await runInProcess(['config', 'check', '--json'], {
      environment,
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      type: 'urn:fullmatch:error:unknown_configuration_key',
      code: 'unknown_configuration_key',
      problems: [{ where: 'environment FULLMATCH_HSOT' }],
    });
  });
});

test('with --ndjson prints an error as one line on standard output', async () => {
  const { exitCode, stdout } = await runInProcess(['chains', 'list', '--ndjson', '--nowhere']);
  expect(exitCode).toBe(1);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  expect(JSON.parse(stdout)).toMatchObject({ code: 'invalid_parameter' });
});

describe('Invalid arguments', () => {
  test.each([
    [['start', '--port', '1'], "unknown option '--port' (Did you mean --api-port?)"],
    [['chain'], "unknown command 'chain' (Did you mean chains?)"],
    [['chains', 'lists'], "unknown command 'lists' (Did you mean list?)"],
    [['chains', 'list', '--suported'], "unknown option '--suported' (Did you mean --supported?)"],
    [['chains', 'show'], "missing required argument 'chain'"],
    [['tokens', 'crate'], "unknown command 'crate' (Did you mean create?)"],
  ])('%j: suggest the likely intention, in text and JSON', async (args, detail) => {
    const told = await runInProcess(args, {});
    expect(told).toMatchObject({ exitCode: 1, stdout: '' });
    expect(told.stderr).toBe(`error[invalid_parameter]: ${detail}\n`);
    const { exitCode, stdout, stderr } = await runInProcess([...args, '--json'], {});
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ code: 'invalid_parameter', detail });
  });
});

test.each([
  ['jobs', 'list, show, cancel, or retry'],
  ['chains', 'sync, probe, check, list, or show'],
])('%s without a command prints its help and lists the commands', async (group, names) => {
  const detail = `fullmatch ${group} needs a command: ${names}.`;
  const { exitCode, stdout, stderr } = await runInProcess([group], {});
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain(`Usage: fullmatch ${group} `);
  expect(stderr.trimEnd().split('\n').at(-1)).toBe(`error[invalid_parameter]: ${detail}`);
  const json = await runInProcess([group, '--json'], {});
  expect(json.exitCode).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ code: 'invalid_parameter' });
});

describe('Program', () => {
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    spawnSync(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...env },
      encoding: 'utf8',
    });

  test('passes on its arguments and exits 0', () => {
    const { status, stdout } = run(['version', '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ version });
  });

  test("passes on its environment and exits with the error's code", () => {
    const { status, stderr, stdout } = run(['config', 'check'], { FULLMATCH_API_PORT: 'x' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('error[invalid_configuration]: environment FULLMATCH_API_PORT');
  });
});
