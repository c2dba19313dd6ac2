import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { COMPILATIONS, keepCompilation } from './compile-in-child.ts';

const FIXTURES = path.resolve(import.meta.dirname, '../fixtures');
/** Recorded compiler outputs for the inputs of the tests: alternating lines of key and output. */
const ARCHIVE = path.join(FIXTURES, 'compilations.br');
/** The same for Solar, which few machines have: packed separately, see solar-recordings.ts. */
const SOLAR_ARCHIVE = path.join(FIXTURES, 'solar.br');
/** Timestamp of an output that no test has used since it was unpacked. */
const NEVER = new Date(0);

/**
 * Packs what the tests have compiled or used since a given time into the archive and replaces its content.
 * @returns the number of compilations in it
 */
export async function packCompilations(since: Date): Promise<number> {
  const ofSolar = await readArchive(SOLAR_ARCHIVE);
  const names = (await listUsed(since)).filter((name) => !ofSolar.has(keyOf(name)));
  await writeArchive(ARCHIVE, names);
  return names.length;
}

/** Packs everything used since a given time as Solar's output. */
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
  // Outputs of similar length come from the same source and compress each other well.
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
 * Unpacks the recorded compilations where tests look for them. Without them the first run of the tests
 * compiles for minutes; an unrecorded input is compiled.
 * @returns a function that counts the unrecorded ones among those used until then
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

/** The cached outputs used since a given time. */
async function listUsed(since: Date): Promise<readonly string[]> {
  const used: string[] = [];
  for (const name of await readdir(COMPILATIONS)) {
    if (!name.endsWith('.json')) continue;
    const { mtime } = await stat(path.join(COMPILATIONS, name));
    if (mtime >= since) used.push(name);
  }
  return used;
}
