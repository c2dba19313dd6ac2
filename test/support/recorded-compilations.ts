import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { COMPILATIONS, keepCompilation } from './compile-in-child.ts';

const FIXTURES = path.resolve(import.meta.dirname, '../fixtures');
/** What compilers answered for the inputs of the tests: a line with the key, and a line with the output, in turn. */
const ARCHIVE = path.join(FIXTURES, 'compilations.br');
/** The same of Solar, which few machines have: packed by itself, see solar-recordings.ts. */
const SOLAR_ARCHIVE = path.join(FIXTURES, 'solar.br');
/** When an output was used that no test has asked for since it was unpacked. */
const NEVER = new Date(0);

/**
 * Packs what the tests have compiled or used since a moment into the archive, whatever it held before.
 * @returns how many compilations it holds
 */
export async function packCompilations(since: Date): Promise<number> {
  const ofSolar = await readArchive(SOLAR_ARCHIVE);
  const names = (await listUsed(since)).filter((name) => !ofSolar.has(keyOf(name)));
  await writeArchive(ARCHIVE, names);
  return names.length;
}

/** Packs everything that was used since a moment as what Solar answered. */
export async function packSolar(since: Date): Promise<void> {
  await writeArchive(SOLAR_ARCHIVE, await listUsed(since));
}

const keyOf = (name: string): string => path.basename(name, '.json');

async function writeArchive(archive: string, names: readonly string[]): Promise<void> {
  const outputs = await Promise.all(
    names.map(async (name) => ({
      key: keyOf(name),
      text: (await readFile(path.join(COMPILATIONS, name), 'utf8')).trimEnd(),
    })),
  );
  // Outputs of about one length are of one source, and shrink each other.
  outputs.sort((a, b) => a.text.length - b.text.length || (a.key < b.key ? -1 : 1));
  const text = outputs.map(({ key, text }) => `${key}\n${text}\n`).join('');
  const packed = await promisify(brotliCompress)(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 9,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    },
  });
  await writeFile(archive, packed);
}

async function readArchive(archive: string): Promise<ReadonlyMap<string, string>> {
  const packed = await readFile(archive).catch(() => undefined);
  const lines =
    packed === undefined ? [] : String(await promisify(brotliDecompress)(packed)).split('\n');
  const outputs = new Map<string, string>();
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const [key = '', text = ''] = lines.slice(index, index + 2);
    outputs.set(key, text);
  }
  return outputs;
}

/**
 * Puts the recorded compilations where tests look for them. Without them the first run of the tests compiles for
 * minutes; an input that is not among them is compiled.
 * @returns says how many of those that were used until then are not recorded
 */
export async function unpackCompilations(): Promise<() => Promise<number>> {
  const begun = new Date();
  const kept = new Set(await readdir(COMPILATIONS).catch(() => []));
  const recorded = new Map([
    ...(await readArchive(ARCHIVE)),
    ...(await readArchive(SOLAR_ARCHIVE)),
  ]);
  for (const [key, text] of recorded) {
    if (kept.has(`${key}.json`)) continue;
    await keepCompilation(key, text);
    await utimes(path.join(COMPILATIONS, `${key}.json`), NEVER, NEVER);
  }
  return async () => (await listUsed(begun)).filter((name) => !recorded.has(keyOf(name))).length;
}

/** The kept outputs that were used since a moment. */
async function listUsed(since: Date): Promise<readonly string[]> {
  const used: string[] = [];
  for (const name of await readdir(COMPILATIONS)) {
    if (!name.endsWith('.json')) continue;
    const { mtime } = await stat(path.join(COMPILATIONS, name));
    if (mtime >= since) used.push(name);
  }
  return used;
}
