// Modules that the built program loads: each command loads only its own.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTemporaryFolder } from './support/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Writes the URL of every loaded module to descriptor 3. */
const TRACER = `
import { register } from 'node:module';
register('data:text/javascript,' + encodeURIComponent(\`
  import { writeSync } from 'node:fs';
  export async function load(url, context, next) {
    writeSync(3, url + '\\\\n');
    return next(url, context);
  }\`));`;

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
beforeAll(async () => {
  folder = await createTemporaryFolder();
});
afterAll(() => folder.remove());

/**
 * Runs a command line of the built program. Returns its output and the loaded modules as paths relative to
 * the project.
 */
function trace(...args: readonly string[]): { stdout: string; loaded: readonly string[] } {
  const tracer = `data:text/javascript,${encodeURIComponent(TRACER)}`;
  const { status, stdout, stderr, output } = spawnSync(
    process.execPath,
    ['--import', tracer, 'dist/cli/main.js', ...args],
    {
      cwd: ROOT,
      env: { FULLMATCH_DATA_DIR: folder.path, XDG_CACHE_HOME: folder.path },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      encoding: 'utf8',
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const loaded = (output[3] ?? '')
    .split('\n')
    .filter((url) => url.startsWith('file:'))
    .map((url) => fileURLToPath(url).slice(ROOT.length));
  return { stdout, loaded };
}

const packageOf = (file: string): string | undefined =>
  /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
const packagesOf = (loaded: readonly string[]): readonly string[] => [
  ...new Set(loaded.flatMap((file) => packageOf(file) ?? [])),
];

describe('module loading', () => {
  test.each([['--version'], ['--help'], ['help'], ['chains', '--help']])(
    'loads only the command line for %s %s',
    (...args) => {
      const { stdout, loaded } = trace(...args);
      expect(stdout).not.toBe('');
      expect(packagesOf(loaded)).toEqual(['commander']);
      expect(loaded.length).toBeLessThan(20);
    },
  );

  test('loads no database, network or compiler modules to list the chains', () => {
    const { stdout, loaded } = trace('chains', 'list');
    expect(stdout.split('\n').length).toBeGreaterThan(1000);
    const packages = packagesOf(loaded);
    for (const name of ['pg', 'undici', 'solc', 'hono', '@hono/zod-openapi', 'prom-client']) {
      expect(packages).not.toContain(name);
    }
  });

  test('loads the demo for no other command', () => {
    const isDemonstration = (file: string): boolean => file.startsWith('dist/chunks/demo-');
    const built = readdirSync(path.join(ROOT, 'dist/chunks'));
    expect(built.map((file) => `dist/chunks/${file}`).some(isDemonstration)).toBe(true);
    expect(trace('help', 'start').loaded.filter(isDemonstration)).toEqual([]);
  });
});
