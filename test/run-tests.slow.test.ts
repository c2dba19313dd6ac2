// The test runner, on a small suite of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTemporaryFolder } from './support/temporary-folder.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
let marks: Awaited<ReturnType<typeof createTemporaryFolder>>;
beforeEach(async () => {
  marks = await createTemporaryFolder();
});
afterEach(() => marks.remove());

async function run(...files: readonly string[]): Promise<{ code: unknown; output: string }> {
  const suite = path.join(ROOT, 'test/fixtures/suite');
  const parameters = ['scripts/run-tests.ts', 'fast', '--root', suite, ...files];
  const child = spawn(path.join(ROOT, 'node_modules/.bin/tsx'), parameters, {
    cwd: ROOT,
    // Omits the variables through which Vitest identifies its workers.
    env: { PATH: process.env['PATH'], SUITE_MARKS: marks.path },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
const lastLineOf = (output: string): string => output.trimEnd().split('\n').at(-1) ?? '';

test('a passing suite is green and counts skipped tests', async () => {
  const { code, output } = await run('passes');
  expect(code).toBe(0);
  expect(lastLineOf(output)).toBe('1 passed, 0 failed, 1 skipped');
});

test('a file that fails once is flaky: green, with the output of both runs', async () => {
  const { code, output } = await run('passes', 'flaky-1');
  expect(code).toBe(0);
  const report = output.slice(output.indexOf('flaky: flaky-1.case.ts'));
  expect(report).toMatch(
    /first run:\n[^]*expected true to be false[^]*second run, alone:\n *passed/,
  );
  expect(lastLineOf(output)).toBe('2 passed, 0 failed, 1 skipped');
});

test('a file that fails twice is red', async () => {
  const { code, output } = await run('passes', 'fails');
  expect(code).toBe(1);
  expect(output).toContain('failed twice: fails.case.ts');
  expect(lastLineOf(output)).toBe('1 passed, 1 failed, 1 skipped');
});

test('a file that is in both suites and fails in one is red', async () => {
  const { code, output } = await run('in-both');
  expect(code).toBe(1);
  expect(output).toContain('failed twice: in-both.case.ts');
  expect(lastLineOf(output)).toBe('1 passed, 1 failed, 0 skipped');
});

test('a file whose second run leaves an unhandled rejection is red', async () => {
  const { code, output } = await run('rejects');
  expect(code).toBe(1);
  expect(output).toContain('failed twice: rejects.case.ts');
  expect(lastLineOf(output)).toBe('1 passed, 1 failed, 0 skipped');
});

test('a whole suite with `test.only` is red', async () => {
  const { code, output } = await run('--config', 'only.config.ts');
  expect(code).toBe(1);
  expect(output).toContain('Unexpected .only');
});

test('three flaky files are green, and four are red', async () => {
  const three = await run('flaky-1', 'flaky-2', 'flaky-3');
  expect([three.code, lastLineOf(three.output)]).toEqual([0, '3 passed, 0 failed, 0 skipped']);
  await marks.remove();
  marks = await createTemporaryFolder();
  const four = await run('flaky');
  expect([four.code, lastLineOf(four.output)]).toEqual([1, '4 passed, 0 failed, 0 skipped']);
});
