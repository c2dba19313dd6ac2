import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, chmod, copyFile, mkdir, mkdtemp, open, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { COMPILER_ENVIRONMENT } from './isolation.ts';

/** A folder that becomes the whole file system of one compiler. */
export interface CompilerRoot {
  readonly folder: string;
  /** The compiler's path inside. */
  readonly program: string;
  /** An empty folder inside, to work in. */
  readonly workFolder: string;
  /** A folder inside that the compiler may write into, where it needs one. */
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
 * Makes the root folder of a native compiler: the compiler, what the system needs to run it (nothing for the released
 * builds, which are static; else its loader, libraries and interpreter), and an empty folder. All of it is read-only
 * for the compiler, but for the temporary folder of one that unpacks itself. It is made in the system's folder for temporary files, or beside the compiler where programs may
 * not be run from there.
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
        // Its user is known only when it starts.
        await chmod(path.join(folder, SCRATCH), ANYBODY);
      }
      await copyInto(folder, file, PROGRAM);
      // The kernel answers this for a file system whose programs may not be run as well.
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

/** Copies what the kernel reads beside a program to run it: a script's interpreter, a dynamic program's libraries. */
async function copyNeeded(folder: string, file: string): Promise<void> {
  const interpreter = /^#! *([^ \n]+)/.exec(await readHead(file))?.[1];
  if (interpreter !== undefined) await copyInto(folder, await realpath(interpreter), interpreter);
  for (const library of await listLibraries(interpreter ?? file)) {
    await copyInto(folder, await realpath(library), library);
  }
}

/**
 * The libraries of the C library's own, which programs that unpack themselves expect of the system: what they hold is
 * linked to them, and cannot be asked before it is unpacked.
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

/** The loader and the libraries of a program; none for a static one. The program is one whose checksum is listed. */
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
