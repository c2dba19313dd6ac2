// `fullmatch import` as an operator runs it: streams, exit codes, signals.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CliContext, type OutputStream } from '../src/cli/cli-context.ts';
import { runCli } from '../src/cli/program.ts';
import { type ImportSummary } from '../src/importer/import-tally.ts';
import { manyContracts, writeExampleTree } from './support/example-tree.ts';
import { type ShowTree, writeShowTree } from './support/show-tree.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

let root: string;
let show: ShowTree;
let store: TestDatabase;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'fullmatch-import-command-'));
  show = await writeShowTree(join(root, 'show'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  store = await createTestDatabase();
  return () => store.drop();
});

class Recorder implements OutputStream {
  text = '';
  readonly isTTY: boolean;
  readonly columns = 100;

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  write(text: string): void {
    this.text += text;
  }
}

async function fullmatch(
  args: readonly string[],
  { isTTY = false, signal = new AbortController().signal } = {},
): Promise<{ exit: number; stdout: string; stderr: string }> {
  const stdout = new Recorder(isTTY);
  const stderr = new Recorder(isTTY);
  const context: CliContext = {
    stdout,
    stderr,
    environment: { DATABASE_URL: store.url },
    workingDirectory: root,
    signal,
    onHangUp: () => undefined,
  };
  const exit = await runCli(['import', ...args], context);
  return { exit, stdout: stdout.text, stderr: stderr.text };
}

describe('fullmatch import', () => {
  test('prints counts per chain and each rejected entry with its reason, and exits 0', async () => {
    const { exit, stdout, stderr } = await fullmatch(['show']);
    expect(exit).toBe(0);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^1 +3 +0 +1 +0 +0$/m);
    expect(stdout).toMatch(/^2716446429837000 +1 +0 +0 +0 +0$/m);
    expect(stdout).toMatch(/6 stored, 0 upgraded, 1 unchanged, 6 refused in/);
    for (const { path, reason } of show.refused) {
      expect(stdout).toContain(`refused ${path}\n  ${reason}: `);
    }
  });

  test('prints one JSON value with --json', async () => {
    const { exit, stdout, stderr } = await fullmatch(['show/contracts', '--json']);
    expect([exit, stderr]).toEqual([0, '']);
    const summary = JSON.parse(stdout) as ImportSummary;
    expect(summary).toMatchObject({ dryRun: false, interrupted: false });
    expect(summary.chains.map(({ chainId }) => chainId)).toEqual([1, 10, 424242, 2716446429837000]);
    expect(new Set(summary.refused.map(({ reason }) => reason))).toEqual(
      new Set(show.refused.map(({ reason }) => reason)),
    );
  });

  test('labels a dry run as such', async () => {
    const dry = await fullmatch(['show', '--dry-run']);
    expect(dry.stdout).toMatch(/^dry run, nothing is stored; it would be: 6 stored/m);
    expect((await fullmatch(['show'])).stdout).toMatch(/^6 stored/m);
  });

  test('shows a progress bar on a terminal and removes it afterwards', async () => {
    const { stderr } = await fullmatch(['show'], { isTTY: true });
    expect(stderr).toMatch(/░|█/);
    expect(stderr.endsWith('\r\u001b[K')).toBe(true);
    for (const line of stderr.split('\r\u001b[K')) expect(line.length).toBeLessThan(100);
  });

  test('exits 1 and names the path if it is not a tree', async () => {
    const { exit, stderr, stdout } = await fullmatch(['nowhere', '--json']);
    expect([exit, stderr]).toEqual([1, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      code: 'import_path_unusable',
      path: join(root, 'nowhere'),
    });
  });

  test('exits 130 with a complete result when interrupted', async () => {
    await writeExampleTree(join(root, 'many'), { layout: 'v2', contracts: manyContracts(20) });
    const { exit, stdout, stderr } = await fullmatch(['many', '--json'], {
      signal: AbortSignal.abort(),
    });
    expect(exit).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ interrupted: true });
    expect(JSON.parse(stderr)).toMatchObject({ code: 'import_interrupted' });
  });
});
