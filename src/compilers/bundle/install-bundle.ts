import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type Header } from 'tar-stream';
import { FullmatchError, messageOf } from '../../errors.ts';
import { isMembers, membersOf } from '../../lib/members.ts';
import { printableText } from '../../lib/printable-text.ts';
import {
  type CompilerList,
  EMPTY_LIST,
  LIST_NAME,
  parseCompilerList,
} from '../sources/compiler-list.ts';
import { readAnyBuildName } from '../toolchains/all-toolchains.ts';
import { type NamedBuild, type Toolchain } from '../toolchains/toolchain.ts';
import { bundledName } from './bundled-name.ts';
import { readTar, type TarEntry } from '../../lib/read-tar.ts';
import { makeFolder } from '../../lib/writable-folder.ts';

/** Options for installing a bundle. */
export interface TakeOptions {
  /** The compiler folder. */
  readonly folder: string;
  /** Whether to trust the list in the bundle for builds that the catalogue of this program does not contain. */
  readonly trustList: boolean;
}

/** A compiler installed from a bundle. */
export interface InstalledCompiler {
  readonly longVersion: string;
  readonly fileName: string;
  /** Whether the catalogue pins it; otherwise the bundle's own list was trusted. */
  readonly pinned: boolean;
}

/** The largest binary so far is 28 MB; each release has two. */
const MAX_FILE_BYTES = 64_000_000;
const MAX_LIST_BYTES = 16_000_000;
const MAX_FILES = 1000;

function refuse(bundle: string, reason: string): FullmatchError {
  return new FullmatchError('compiler_bundle_refused', `${bundle} is refused: ${reason}`);
}

/**
 * Installs the compilers of a bundle into the compiler folder. A file is renamed to its final name only after
 * its checksum is verified. The first file that fails ends the installation; earlier files remain.
 * @throws FullmatchError compiler_bundle_refused, which names the file.
 */
export async function installBundle(
  bundle: string,
  { folder, trustList }: TakeOptions,
): Promise<readonly InstalledCompiler[]> {
  await makeFolder(folder);
  const taken: InstalledCompiler[] = [];
  let list = EMPTY_LIST;
  const archive = readTar();
  const unpacked = pipeline(createReadStream(bundle), archive);
  // Iterating over the archive does not report earlier errors of the streams.
  unpacked.catch(() => undefined);
  try {
    for await (const entry of archive as AsyncIterable<TarEntry>) {
      requirePlainFile(bundle, entry.header);
      if (entry.header.name === LIST_NAME) list = await readList(bundle, entry);
      else {
        const build = requireBuild(bundle, entry.header);
        taken.push(await takeFile(bundle, { build, entry, list }, { folder, trustList }));
      }
      if (taken.length > MAX_FILES) throw refuse(bundle, `it has more than ${MAX_FILES} files.`);
    }
    await unpacked;
  } catch (error) {
    archive.destroy();
    if (error instanceof FullmatchError) throw error;
    const cause: unknown = await unpacked.then(
      () => error,
      (fault: unknown) => fault,
    );
    throw refuse(bundle, `it is no complete tar archive: ${messageOf(cause)}`);
  }
  if (taken.length === 0) throw refuse(bundle, 'it contains no compiler.');
  return taken;
}

type KnownBuild = NamedBuild & { readonly toolchain: Toolchain };

/** Rejects links, folders and devices. */
function requirePlainFile(bundle: string, { name, type }: Header): void {
  if (type === 'file') return;
  throw refuse(bundle, `${JSON.stringify(printableText(name))} is not a plain file.`);
}

/** Returns the build of an entry, whose name must follow the layout exactly. */
function requireBuild(bundle: string, { name, size }: Header): KnownBuild {
  const build = readAnyBuildName(name.slice(name.lastIndexOf('/') + 1));
  if (build === undefined || name !== bundledName(build.toolchain, build)) {
    throw refuse(bundle, `${JSON.stringify(printableText(name))} is no name of a compiler.`);
  }
  if (size > MAX_FILE_BYTES) throw refuse(bundle, `${name} is larger than any compiler.`);
  return build;
}

async function readList(bundle: string, entry: TarEntry): Promise<CompilerList> {
  if (entry.header.size > MAX_LIST_BYTES) throw refuse(bundle, `${LIST_NAME} is too large.`);
  return parseCompilerList(await buffer(entry));
}

async function takeFile(
  bundle: string,
  { build, entry, list }: { build: KnownBuild; entry: TarEntry; list: CompilerList },
  { folder, trustList }: TakeOptions,
): Promise<InstalledCompiler> {
  const { fileName, longVersion, kind, toolchain } = build;
  const file = path.join(folder, fileName);
  const partial = `${file}.${randomUUID()}.partial`;
  try {
    const sha256 = await writeChunks(partial, entry, kind === 'native' ? 0o755 : 0o644);
    const pinned = await toolchain.catalogue.isPinned(longVersion, kind, {
      ...{ sha256, path: partial },
    });
    const listed = list.byFileName.get(fileName)?.sha256;
    if (pinned === false || (listed !== undefined && listed !== sha256)) {
      throw refuse(
        bundle,
        `${entry.header.name} differs from the published file: its SHA-256 is ${sha256}.`,
      );
    }
    if (pinned === undefined && !(trustList && listed === sha256)) {
      throw refuse(
        bundle,
        `${entry.header.name} is not in the catalogue of this version; only the list in the bundle names it. Install it with --trust-list if you trust the bundle's author.`,
      );
    }
    if (pinned === undefined) await addToList(folder, { fileName, longVersion, sha256 });
    await rename(partial, file);
    return { longVersion, fileName, pinned: pinned === true };
  } finally {
    await rm(partial, { force: true });
  }
}

async function writeChunks(file: string, entry: TarEntry, mode: number): Promise<string> {
  const hash = createHash('sha256');
  const handle = await open(file, 'wx', mode);
  try {
    for await (const chunk of entry) {
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
    await handle.chmod(mode);
  } finally {
    await handle.close();
  }
  return hash.digest('hex');
}

/** Adds a build to the folder's list, which is used for builds that are not in the catalogue. */
async function addToList(
  folder: string,
  { fileName, longVersion, sha256 }: { fileName: string; longVersion: string; sha256: string },
): Promise<void> {
  const file = path.join(folder, LIST_NAME);
  const known: unknown = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
  const document = membersOf(known);
  const builds: readonly unknown[] = Array.isArray(document['builds']) ? document['builds'] : [];
  const others = builds.filter((each) => !isMembers(each) || each['path'] !== fileName);
  const added = { path: fileName, longVersion, sha256: `0x${sha256}` };
  const partial = `${file}.${randomUUID()}.partial`;
  const text = JSON.stringify({ ...document, builds: [...others, added] }, null, 2);
  await writeFile(partial, `${text}\n`);
  await rename(partial, file);
}
