// Modules that the built program loads: each command and each thread loads only its own.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import bundled from '../scripts/bundled-packages.json' with { type: 'json' };
import { createTemporaryFolder } from './support/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Chunks of bundled packages. */
const BUNDLED = new Set(bundled.map((name) => name.replace('/', '-')));
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

/** The bundled package that a chunk holds. */
function bundledPackageOf(file: string): string | undefined {
  const name = /\/(@?[\w.-]+)-[\w-]{8}\.js$/.exec(file)?.[1];
  return name !== undefined && BUNDLED.has(name) ? name : undefined;
}
const packageOf = (file: string): string | undefined =>
  /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? bundledPackageOf(file);
const packagesOf = (loaded: readonly string[]): readonly string[] => [
  ...new Set(loaded.flatMap((file) => packageOf(file) ?? [])),
];

/** The packages that a built program imports, directly or through its chunks; bundled ones by their chunk. */
function importedPackages(entry: string): readonly string[] {
  const found = new Set<string>();
  const files = [path.join(ROOT, 'dist', entry)];
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    for (const [, name = ''] of text.matchAll(/^(?:import|export)\b[^'"\n]*["']([^"']+)["'];$/gm)) {
      const chunk = bundledPackageOf(name);
      if (!name.startsWith('.')) found.add(name);
      else if (chunk !== undefined) found.add(chunk);
      const next = path.resolve(path.dirname(file), name);
      if (name.startsWith('.') && !files.includes(next)) files.push(next);
    }
  }
  return [...found].filter((name) => !isBuiltin(name)).sort();
}

describe('module loading', () => {
  // A thread starts on the first request that needs it, which every unneeded module delays.
  test.each([
    ['http/api/pages/page-thread', []],
    ['http/bodies/reading-thread', ['hash-wasm', 'pend', 'yauzl', 'zod']],
    ['http/records/record-thread', ['cborg', 'fflate', 'hash-wasm']],
    ['importer/read-contracts-thread', ['cborg', 'hash-wasm', 'lru-cache', 'multiformats']],
    ['importer/read-parquet-thread', ['fzstd', 'hyparquet']],
    ['verification/compilation/job-thread', ['cborg', 'hash-wasm', 'lru-cache']],
  ])('loads only the packages that the thread %s uses', (thread, packages) => {
    expect(importedPackages(`${thread}.js`)).toEqual(packages);
  });

  test('loads the MCP server and the HTTP client with their first message, not at startup', () => {
    const parts = readdirSync(path.join(ROOT, 'dist/chunks')).filter((file) =>
      /^(?:open-hosts|run-core|chain-access|open-verification)-[\w-]{8}\.js$/.test(file),
    );
    const packages = parts.flatMap((file) => importedPackages(`chunks/${file}`));
    expect(packages).toEqual(expect.arrayContaining(['zod', 'tldts']));
    const late = /^(?:@modelcontextprotocol|undici)/;
    expect(packages.filter((name) => late.test(name))).toEqual([]);
  });

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
    for (const name of ['pg', 'undici', 'solc', 'hono', '@hono-zod-openapi', 'prom-client']) {
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
