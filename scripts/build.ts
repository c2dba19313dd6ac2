/**
 * `npm run build`: builds dist/, client/dist/ and generated/. A part whose sources and results are unchanged
 * since its last build is skipped; `--force` builds it anyway.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

process.chdir(path.resolve(import.meta.dirname, '..'));
const STAMPS = 'node_modules/.cache/fullmatch-parts';
const PACKAGES = ['scripts/build.ts', 'package.json', 'package-lock.json'];
const PAGES = 'dist/web';

/** None reads another one's output. */
interface Part {
  readonly name: string;
  /** Files and folders. */
  readonly inputs: readonly string[];
  readonly output: string;
  /** Paths below the output that belong to another part. */
  readonly except?: string;
  readonly commands: readonly (readonly [string, ...string[]])[];
}
const PARTS: readonly Part[] = [
  {
    name: 'program',
    inputs: ['src', 'vite.config.ts', 'scripts/bundled-packages.json'],
    output: 'dist',
    except: PAGES,
    commands: [['vite', 'build', '-c', 'vite.config.ts']],
  },
  {
    name: 'client',
    inputs: ['client/src', 'client/package.json', 'client/tsconfig.json', 'tsconfig.json'],
    output: 'client/dist',
    commands: [['tsc', '-p', 'client']],
  },
  {
    name: 'list',
    inputs: ['scripts/build-public-list.ts'],
    output: 'generated',
    commands: [['tsx', 'scripts/build-public-list.ts']],
  },
  {
    name: 'pages',
    // With the folders of the service that pages import from.
    inputs: ['web', 'client/src', 'src/lib', 'src/solidity'],
    output: PAGES,
    commands: [
      ['vite', 'build', '-c', 'web/vite.config.ts'],
      ['vite', 'build', '-c', 'web/vite.config.ts', '--ssr', 'src/server.tsx'],
    ],
  },
];

/** The files at and below a path, in a fixed order; empty if the path does not exist. */
async function listFiles(file: string, except?: string): Promise<readonly string[]> {
  if (file === except) return [];
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory() !== true) return found === undefined ? [] : [file];
  const names = (await readdir(file)).sort();
  const below = await Promise.all(names.map((name) => listFiles(`${file}/${name}`, except)));
  return below.flat();
}

async function digestOf(roots: readonly string[], except?: string): Promise<string> {
  const hash = createHash('sha256');
  const files = (await Promise.all(roots.map((root) => listFiles(root, except)))).flat();
  for (const file of files.filter((name) => !/\.test\.tsx?$/.test(name))) {
    const content = await readFile(file);
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/** Tests run this with NODE_ENV=test, with which Vite writes the paths of the sources into the pages. */
const ENVIRONMENT = { ...process.env, NODE_ENV: 'production' };

async function run([program, ...args]: readonly [string, ...string[]]): Promise<void> {
  const file = path.join('node_modules/.bin', program);
  try {
    const { stderr } = await promisify(execFile)(file, args, { env: ENVIRONMENT });
    process.stderr.write(stderr);
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${program} ${args.join(' ')} failed\n${stdout}${stderr}`, { cause: error });
  }
}

/** Removes a part's output: file names change with their content. */
async function clear({ output, except }: Part): Promise<void> {
  const names = await readdir(output).catch(() => []);
  for (const name of names.map((each) => `${output}/${each}`)) {
    if (name !== except) await rm(name, { recursive: true, force: true });
  }
}

async function build(part: Part): Promise<void> {
  const stamp = path.join(STAMPS, part.name);
  const [inputs = '', outputs = ''] = (await readFile(stamp, 'utf8').catch(() => '')).split('\n');
  const readOutputs = (): Promise<string> => digestOf([part.output], part.except);
  const isWhole = (await readOutputs()) === outputs;
  const newInputs = await digestOf([...PACKAGES, ...part.inputs]);
  if (isWhole && inputs === newInputs && !process.argv.includes('--force')) return;
  await clear(part);
  const ends = await Promise.allSettled(part.commands.map(run));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  await mkdir(STAMPS, { recursive: true });
  await writeFile(stamp, [newInputs, await readOutputs()].join('\n'));
}

const ends = await Promise.allSettled(PARTS.map(build));
for (const end of ends) if (end.status === 'rejected') throw end.reason;
