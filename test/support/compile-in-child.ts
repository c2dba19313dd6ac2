import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runSoljson } from './run-soljson.ts';

const SUPPORT = dirname(fileURLToPath(import.meta.url));
const PROJECT = dirname(dirname(SUPPORT));
const CACHE = join(PROJECT, 'node_modules', '.cache', 'fullmatch-compilations');

/** The versions of solc that tests have: the newest as `solc`, the others under npm aliases. */
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

function cacheFileOf(version: SolcVersion, input: object): string {
  const key = createHash('sha256').update(version).update(JSON.stringify(input)).digest('hex');
  return join(CACHE, `${key}.json`);
}

/**
 * Compiles standard JSON inputs with one version of solc, all in one child process, and gives the outputs in order.
 * Results are kept under node_modules/.cache, so that a second run of the tests compiles nothing.
 */
export async function compileInChild<Output>(
  version: SolcVersion,
  inputs: readonly object[],
): Promise<Output[]> {
  const files = inputs.map((input) => cacheFileOf(version, input));
  const texts = new Map<string, string>();
  const missing = new Map<string, object>();
  for (const [index, file] of files.entries()) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) missing.set(file, inputs[index] ?? {});
    else texts.set(file, text);
  }
  if (missing.size > 0) {
    await mkdir(CACHE, { recursive: true });
    const outputs = await runSoljson(packageOf(version), [...missing.values()]);
    for (const [index, file] of [...missing.keys()].entries()) {
      const text = JSON.stringify(outputs[index]);
      texts.set(file, text);
      await writeWhole(file, text);
    }
  }
  return files.map((file) => JSON.parse(texts.get(file) ?? '') as Output);
}

/** Renamed into place: test files that compile at the same time never see half a file. */
async function writeWhole(file: string, text: string): Promise<void> {
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, text);
  await rename(unfinished, file);
}
