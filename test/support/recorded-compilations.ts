import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { COMPILATIONS, keepCompilation } from './compile-in-child.ts';

/** What compilers answered for the inputs of the tests: a line with the key, and a line with the output, in turn. */
const ARCHIVE = path.resolve(import.meta.dirname, '../fixtures/compilations.br');

/** Packs what the tests have compiled into the archive. @returns how many compilations it holds */
export async function packCompilations(): Promise<number> {
  const names = (await readdir(COMPILATIONS)).filter((name) => name.endsWith('.json'));
  const outputs = await Promise.all(
    names.map(async (name) => ({
      key: path.basename(name, '.json'),
      text: await readFile(path.join(COMPILATIONS, name), 'utf8'),
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
  await writeFile(ARCHIVE, packed);
  return names.length;
}

/**
 * Puts the recorded compilations where tests look for them. Without them the first run of the tests compiles for
 * minutes; an input that is not among them is compiled.
 */
export async function unpackCompilations(): Promise<void> {
  const kept = new Set(await readdir(COMPILATIONS).catch(() => []));
  const packed = await readFile(ARCHIVE).catch(() => undefined);
  if (packed === undefined) return;
  const lines = (await promisify(brotliDecompress)(packed)).toString().split('\n');
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const [key = '', text = ''] = lines.slice(index, index + 2);
    if (!kept.has(`${key}.json`)) await keepCompilation(key, text);
  }
}
