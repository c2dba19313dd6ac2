import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runSoljson } from './run-soljson.ts';

const SUPPORT = dirname(fileURLToPath(import.meta.url));
const PROJECT = dirname(dirname(SUPPORT));
/** Cache of compiler outputs by key. */
export const COMPILATIONS = join(PROJECT, 'node_modules', '.cache', 'fullmatch-compilations');

/** The versions of solc available to tests: the newest as `solc`, the others under npm aliases. */
export const SOLC_VERSIONS = [
  '0.4.11',
  '0.4.18',
  '0.4.24',
  '0.4.26',
  '0.5.9',
  '0.5.17',
  '0.6.12',
  '0.7.6',
  '0.8.4',
  '0.8.9',
  '0.8.11',
  '0.8.17',
  '0.8.20',
  '0.8.24',
  '0.8.30',
  '0.8.37',
] as const;
export type SolcVersion = (typeof SOLC_VERSIONS)[number];

function packageOf(version: SolcVersion): string {
  return version === '0.8.37' ? 'solc' : `solc-${version}`;
}

function keyOf(version: string, input: object, root = ''): string {
  const text = `${JSON.stringify(input)}${root}`;
  return createHash('sha256').update(version).update(text).digest('hex');
}

const fileOf = (key: string): string => join(COMPILATIONS, `${key}.json`);

/**
 * Compiles standard JSON inputs with one version of solc, all in one child process, and returns the outputs
 * in order. Results are cached under node_modules/.cache, with those of recorded-compilations.ts.
 * @param root the only source given to the compiler; it resolves the others through imports
 */
export function compileInChild<Output>(
  version: SolcVersion,
  inputs: readonly object[],
  root?: string,
): Promise<Output[]> {
  return compileWithPackage(packageOf(version), version, inputs, root);
}

/** {@link compileInChild} with any installed package of solc, such as those of releases without standard JSON. */
export async function compileWithPackage<Output>(
  packageName: string,
  version: string,
  inputs: readonly object[],
  root?: string,
): Promise<Output[]> {
  const keys = inputs.map((input) => keyOf(version, input, root));
  const texts = new Map<string, string>();
  const missing = new Map<string, object>();
  for (const [index, key] of keys.entries()) {
    const text = await readCompilation(key);
    if (text === undefined) missing.set(key, inputs[index] ?? {});
    else texts.set(key, text);
  }
  if (missing.size > 0) {
    const outputs = await runSoljson(packageName, [...missing.values()], root);
    for (const [index, key] of [...missing.keys()].entries()) {
      const text = JSON.stringify(outputs[index]);
      texts.set(key, text);
      await keepCompilation(key, text);
    }
  }
  return keys.map((key) => JSON.parse(texts.get(key) ?? '') as Output);
}

/** Returns a cached output, if any. The file's time records its last use. */
export async function readCompilation(key: string): Promise<string | undefined> {
  const file = fileOf(key);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  const now = new Date();
  if (text !== undefined) await utimes(file, now, now).catch(() => undefined);
  return text;
}

/** Caches an output. Renamed into place: test files that compile concurrently never see a partial file. */
export async function keepCompilation(key: string, text: string): Promise<void> {
  await mkdir(COMPILATIONS, { recursive: true });
  const unfinished = `${fileOf(key)}.${randomUUID()}`;
  await writeFile(unfinished, text);
  await rename(unfinished, fileOf(key));
}
