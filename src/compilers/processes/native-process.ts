import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BoundedProcess } from './bounded-process.ts';
import { makeCompilerRoot } from './compiler-root.ts';
import { type CompilerFile } from '../compiler-file.ts';
import { toolchainOfFile } from '../toolchains/all-toolchains.ts';
import { type CompilerLimits, nativeLimits } from './compiler-limits.ts';
import { type Isolation } from './isolation.ts';

/** What a native compiler is run with. */
export interface NativeOptions {
  readonly limits: CompilerLimits;
  readonly isolation: Isolation;
  readonly signal?: AbortSignal;
}

/** Everything that a process writes, up to a number of bytes; past it the process is ended. */
function gather(bounded: BoundedProcess, maxBytes: number): () => Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  bounded.output.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= maxBytes) chunks.push(chunk);
    else bounded.kill('compiler_output_too_large', `returned more than ${maxBytes} bytes`);
  });
  return () => Buffer.concat(chunks);
}

const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Whether it looks like a whole JSON object; it is parsed elsewhere. */
function isJson(bytes: Buffer): boolean {
  return bytes[0] === OPENING && bytes.subarray(-2).includes(CLOSING);
}

/** A compiler is one process; some have a few threads. */
const MOST_PROCESSES = 16;

/** The folder, or the file system, that a native compiler runs in. */
interface Sandbox {
  readonly program: string;
  readonly directory: string;
  readonly cage?: readonly string[];
  /** A folder that it may write into, as it sees it and as it is. */
  readonly scratch?: { readonly inside: string; readonly outside: string };
  readonly remove: () => Promise<void>;
}

/** A file system of the compiler's own, where the system allows it; else an empty folder. */
async function makeSandbox(
  file: string,
  { cage }: Isolation,
  unpacksItself: boolean,
): Promise<Sandbox> {
  if (cage !== undefined) {
    const { folder, program, workFolder, scratch, remove } = await makeCompilerRoot(
      file,
      unpacksItself,
    );
    const caged = { program, directory: '/', cage: cage.command(folder, workFolder), remove };
    if (scratch === undefined) return caged;
    return { ...caged, scratch: { inside: scratch, outside: path.join(folder, scratch) } };
  }
  const directory = await mkdtemp(path.join(tmpdir(), 'fullmatch-compiler-'));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  const scratch = unpacksItself && { scratch: { inside: directory, outside: directory } };
  return { program: file, directory, remove, ...scratch };
}

/** The interpreter of a build with its libraries has some 80 MB. */
const SCRATCH_BYTES = 512 * 2 ** 20;
const SCRATCH_FILE_BYTES = 128 * 2 ** 20;
const SCRATCH_CHECK_MS = 500;

/** Ends a compiler that writes more into its temporary folder than its own files. */
function watchScratch(bounded: BoundedProcess, folder: string): () => void {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const bytes = await sizeOfFolder(folder).finally(() => (isLooking = false));
    if (bytes > SCRATCH_BYTES) bounded.kill('compiler_crashed', 'writes too much');
  };
  const timer = setInterval(() => void look().catch(() => undefined), SCRATCH_CHECK_MS);
  return () => clearInterval(timer);
}

async function sizeOfFolder(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) =>
    stat(path.join(parentPath, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/**
 * Compiles one input with a native compiler, in a process of its own that starts in an empty folder: unlike a soljson
 * it follows imports into the file system, and there is nothing to find. Where the system allows it, nothing else of
 * the file system is there at all, there is no network, and its user is nobody.
 * @throws FullmatchError compiler_timeout, compiler_out_of_memory, compiler_output_too_large, compiler_crashed;
 * the signal's reason.
 */
export async function runNative(
  file: CompilerFile,
  input: Buffer,
  { limits, isolation, signal }: NativeOptions,
): Promise<Buffer> {
  const { label, unpacksItself } = toolchainOfFile(file);
  const sandbox = await makeSandbox(file.path, isolation, unpacksItself);
  try {
    const bounded = new BoundedProcess({
      name: `${label} ${file.longVersion}`,
      file: sandbox.program,
      parameters: ['--standard-json'],
      directory: sandbox.directory,
      limits: {
        ...nativeLimits(limits),
        ...(isolation.cage?.ownUser === true && { processes: MOST_PROCESSES }),
        ...(sandbox.scratch && { fileBytes: SCRATCH_FILE_BYTES }),
      },
      ...(sandbox.scratch && { environment: { TMPDIR: sandbox.scratch.inside } }),
      isolation,
      ...(sandbox.cage !== undefined && { cage: sandbox.cage }),
    });
    const release = bounded.limit(limits.wallTimeMs);
    const unwatch = sandbox.scratch && watchScratch(bounded, sandbox.scratch.outside);
    const cancel = (): void => bounded.kill('compiler_crashed', 'was cancelled');
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted === true) cancel();
    try {
      const output = gather(bounded, limits.outputBytes);
      bounded.input.end(input);
      const end = await bounded.ended;
      const bytes = output();
      // Vyper says by its exit code too that the sources have errors.
      if (end.exitCode !== 0 && !(unpacksItself && isJson(bytes))) throw bounded.describeEnd(end);
      return bytes;
    } finally {
      release();
      unwatch?.();
      signal?.removeEventListener('abort', cancel);
      signal?.throwIfAborted();
    }
  } finally {
    await sandbox.remove();
  }
}
