/**
 * `npm run build`: makes dist/, client/dist/ and generated/. It does nothing where what it would read and what it made
 * are as they were after the last build; `--force` builds all the same.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

process.chdir(path.resolve(import.meta.dirname, '..'));
const STAMP = 'node_modules/.cache/fullmatch-build';
const INPUTS = [
  ...['src', 'client/src', 'web', 'scripts/build.ts', 'scripts/build-public-list.ts'],
  ...['tsconfig.json', 'tsconfig.build.json', 'client/tsconfig.json'],
  ...['package.json', 'client/package.json', 'package-lock.json'],
];
const OUTPUTS = ['dist', 'client/dist', 'generated'];
/** None reads what another one makes. */
const STEPS = [
  ['tsc', '-p', 'tsconfig.build.json'],
  ['tsc', '-p', 'client'],
  ['tsx', 'scripts/build-public-list.ts'],
  ['vite', 'build', '-c', 'web/vite.config.ts'],
  ['vite', 'build', '-c', 'web/vite.config.ts', '--ssr', 'src/server.tsx'],
] as const;

/** The files at and below a path, in a fixed order; none where nothing is there. */
async function listFiles(file: string): Promise<readonly string[]> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory() !== true) return found === undefined ? [] : [file];
  const names = (await readdir(file)).sort();
  const below = await Promise.all(names.map((name) => listFiles(`${file}/${name}`)));
  return below.flat();
}

async function digestOf(roots: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  const files = (await Promise.all(roots.map(listFiles))).flat();
  for (const file of files.filter((name) => !/\.test\.tsx?$/.test(name))) {
    const content = await readFile(file);
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

async function run([program, ...args]: (typeof STEPS)[number]): Promise<void> {
  const file = path.join('node_modules/.bin', program);
  try {
    const { stderr } = await promisify(execFile)(file, args);
    process.stderr.write(stderr);
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${program} ${args.join(' ')} failed\n${stdout}${stderr}`, { cause: error });
  }
}

const [inputs = '', outputs = ''] = (await readFile(STAMP, 'utf8').catch(() => '')).split('\n');
const isSame = (await digestOf(OUTPUTS)) === outputs;
const newInputs = await digestOf(INPUTS);
if (!isSame || inputs !== newInputs || process.argv.includes('--force')) {
  // tsc goes by a note of its own, and would not write again what somebody else changed or removed.
  if (!isSame) for (const made of OUTPUTS) await rm(made, { recursive: true, force: true });
  const ends = await Promise.allSettled(STEPS.map(run));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  await mkdir(path.dirname(STAMP), { recursive: true });
  await writeFile(STAMP, [newInputs, await digestOf(OUTPUTS)].join('\n'));
}
