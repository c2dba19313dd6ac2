import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { type CompilerFile } from '../compiler-file.ts';
import { toolchainOfFile } from '../toolchains/all-toolchains.ts';
import { bundledName } from './bundled-name.ts';
import { LIST_NAME } from '../sources/compiler-list.ts';
import { TAR_END, tarHeader, tarPadding } from './tar.ts';

/** Writes a bundle of compilers: a tar archive with a list.json of their checksums, then their files. */
export async function writeBundle(file: string, compilers: readonly CompilerFile[]): Promise<void> {
  const builds = compilers.map((each) => ({
    path: toolchainOfFile(each).names.fileNameOf(each.longVersion, each.kind),
    longVersion: each.longVersion,
    sha256: `0x${each.sha256}`,
  }));
  const list = Buffer.from(`${JSON.stringify({ builds }, null, 2)}\n`);
  const partial = `${file}.partial`;
  const handle = await open(partial, 'w');
  try {
    await handle.writeFile(Buffer.concat([tarHeader(LIST_NAME, list.length), list]));
    await handle.writeFile(tarPadding(list.length));
    for (const compiler of compilers) await writeCompiler(handle, compiler);
    await handle.writeFile(TAR_END);
    await handle.close();
    await rename(partial, file);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeCompiler(handle: FileHandle, compiler: CompilerFile): Promise<void> {
  const { size } = await stat(compiler.path);
  await handle.writeFile(tarHeader(bundledName(toolchainOfFile(compiler), compiler), size));
  for await (const chunk of createReadStream(compiler.path))
    await handle.writeFile(chunk as Buffer);
  await handle.writeFile(tarPadding(size));
}
