import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { TarWriter } from '../../lib/tar.ts';
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
  const archive = new TarWriter();
  const written = pipeline(archive.bytes, createWriteStream(partial));
  const add = async (): Promise<void> => {
    await archive.add(LIST_NAME, list.length, [list]);
    for (const compiler of compilers) await addCompiler(archive, compiler);
    archive.end();
  };
  try {
    await Promise.all([written, add()]);
    await rename(partial, file);
  } catch (error) {
    archive.bytes.destroy();
    await written.catch(() => undefined);
    await rm(partial, { force: true });
    throw error;
  }
}

async function addCompiler(archive: TarWriter, compiler: CompilerFile): Promise<void> {
  const { size } = await stat(compiler.path);
  const name = bundledName(toolchainOfFile(compiler), compiler);
  await archive.add(name, size, createReadStream(compiler.path));
}
