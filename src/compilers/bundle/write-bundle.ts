import { createWriteStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { TarWriter } from '../../lib/tar-writer.ts';
import { type CompilerFile } from '../compiler-file.ts';
import { toolchainOfFile } from '../toolchains/all-toolchains.ts';
import { bundledName } from './bundled-name.ts';
import { LIST_NAME } from '../sources/compiler-list.ts';

/** Writes a bundle of compilers: a tar archive with a list.json of their checksums, then their files. */
export async function writeBundle(file: string, compilers: readonly CompilerFile[]): Promise<void> {
  const builds = compilers.map((each) => ({
    path: toolchainOfFile(each).names.fileNameOf(each.longVersion, each.kind),
    longVersion: each.longVersion,
    sha256: `0x${each.sha256}`,
  }));
  const list = Buffer.from(`${JSON.stringify({ builds }, null, 2)}\n`);
  const partial = `${file}.partial`;
  const archive = new TarWriter({ out: createWriteStream(partial) });
  try {
    await archive.add(LIST_NAME, list);
    for (const compiler of compilers) {
      const name = bundledName(toolchainOfFile(compiler), compiler);
      await archive.add(name, await readFile(compiler.path));
    }
    await archive.end();
    await rename(partial, file);
  } catch (error) {
    await archive.giveUp();
    await rm(partial, { force: true });
    throw error;
  }
}
