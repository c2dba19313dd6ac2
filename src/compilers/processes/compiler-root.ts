import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, chmod, copyFile, mkdir, mkdtemp, open, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { COMPILER_ENVIRONMENT } from './isolation.ts';

/** A folder that serves as the root file system of one compiler. */
export interface CompilerRoot {
  readonly folder: string;
  /** The compiler's path inside. */
  readonly program: string;
  /** An empty folder inside, to work in. */
  readonly workFolder: string;
  /** A folder inside that the compiler may write to, if it needs one. */
  readonly scratch?: string;
  readonly remove: () => Promise<void>;
}

const PROGRAM = '/compiler';
const WORK_FOLDER = '/work';
const SCRATCH = '/tmp';
const ANYBODY = 0o777;
const READABLE = 0o555;
const ENTERABLE = 0o755;
const HEAD_BYTES = 256;
const LDD_TIMEOUT_MS = 10_000;

/**
 * Creates the root folder of a native compiler: the compiler, what the system needs to run it (nothing for
 * the released builds, which are static; otherwise its loader, libraries and interpreter), and an empty
 * folder. Everything is read-only for the compiler, except the temporary folder of a self-extracting one. The
 * folder is created in the system's temporary folder, or next to the compiler if programs cannot be executed
 * there.
 */
export async function makeCompilerRoot(file: string, needsScratch = false): Promise<CompilerRoot> {
  let failure: unknown;
  for (const parent of [tmpdir(), path.dirname(file)]) {
    const folder = await mkdtemp(path.join(parent, 'fullmatch-compiler-'));
    const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
    try {
      await chmod(folder, ENTERABLE);
      await mkdir(path.join(folder, WORK_FOLDER), { mode: READABLE });
      if (needsScratch) {
        await mkdir(path.join(folder, SCRATCH));
        // The user id is known only at the start, so the folder is writable for all.
        await chmod(path.join(folder, SCRATCH), ANYBODY);
      }
      await copyInto(folder, file, PROGRAM);
      // The kernel also denies access if the file system is mounted noexec.
      await access(path.join(folder, PROGRAM), constants.X_OK);
      await copyNeeded(folder, file);
      if (needsScratch) await copyUnpackedNeeds(folder, file);
      const root = { folder, program: PROGRAM, workFolder: WORK_FOLDER, remove };
      return needsScratch ? { ...root, scratch: SCRATCH } : root;
    } catch (error) {
      await remove();
      failure = error;
    }
  }
  throw failure;
}

/** Copies what the kernel needs to run a program: a script's interpreter, a dynamic program's libraries. */
async function copyNeeded(folder: string, file: string): Promise<void> {
  const interpreter = /^#! *([^ \n]+)/.exec(await readHead(file))?.[1];
  if (interpreter !== undefined) await copyInto(folder, await realpath(interpreter), interpreter);
  for (const library of await listLibraries(interpreter ?? file)) {
    await copyInto(folder, await realpath(library), library);
  }
}

/**
 * Libraries of the C library, which self-extracting programs expect from the system: the files inside link to
 * them, which is not visible before they are extracted.
 */
const C_LIBRARIES = [
  ...['libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'librt.so.1', 'libutil.so.1'],
  ...['libresolv.so.2', 'libgcc_s.so.1'],
];

async function copyUnpackedNeeds(folder: string, file: string): Promise<void> {
  const libc = (await listLibraries(file)).find((library) => /\/libc\.so/.test(library));
  if (libc === undefined) return;
  for (const name of C_LIBRARIES) {
    const library = path.join(path.dirname(libc), name);
    const from = await realpath(library).catch(() => undefined);
    if (from !== undefined) await copyInto(folder, from, library);
  }
}

async function readHead(file: string): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/**
 * Lists the loader and the libraries of a program; none for a static one. Only called for programs with a
 * listed checksum.
 */
function listLibraries(file: string): Promise<readonly string[]> {
  const options = { env: { ...COMPILER_ENVIRONMENT }, cwd: '/', timeout: LDD_TIMEOUT_MS };
  return new Promise((resolve) => {
    execFile('ldd', [file], options, (_error, stdout) => {
      const lines = stdout.matchAll(/^\s*(?:\S+ => )?(\/\S+) \(0x/gm);
      resolve([...lines].map(([, library = '']) => library));
    });
  });
}

async function copyInto(folder: string, from: string, to: string): Promise<void> {
  const target = path.join(folder, to);
  await mkdir(path.dirname(target), { recursive: true, mode: ENTERABLE });
  await copyFile(from, target, constants.COPYFILE_FICLONE);
  await chmod(target, READABLE);
}
