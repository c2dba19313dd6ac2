import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BoundedProcess } from './bounded-process.ts';
import { makeCompilerRoot } from './compiler-root.ts';
import { type CompilerFile } from '../compiler-file.ts';
import { toolchainOfFile } from '../toolchains/all-toolchains.ts';
import { type CompilerLimits, nativeLimits } from './compiler-limits.ts';
import { type Isolation } from './isolation.ts';

/** Options for running a native compiler. */
export interface NativeOptions {
  readonly limits: CompilerLimits;
  readonly isolation: Isolation;
  readonly signal?: AbortSignal;
}

/** Collects the output of a process up to a number of bytes; exceeding it kills the process. */
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

/** Returns whether the bytes look like a complete JSON object; they are parsed elsewhere. */
function isJson(bytes: Buffer): boolean {
  return bytes[0] === OPENING && bytes.subarray(-2).includes(CLOSING);
}

/** A compiler is one process; some have a few threads. */
const MAX_PROCESSES = 16;

/** The folder, or root file system, that a native compiler runs in. */
interface Sandbox {
  readonly program: string;
  readonly directory: string;
  readonly cage?: readonly string[];
  /** A folder that it may write to, by its paths inside and outside the sandbox. */
  readonly scratch?: { readonly inside: string; readonly outside: string };
  readonly remove: () => Promise<void>;
}

/** Creates a root file system for the compiler if the system supports it, otherwise an empty folder. */
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

/** The interpreter and libraries of a build take about 80 MB. */
const SCRATCH_BYTES = 512 * 2 ** 20;
const SCRATCH_FILE_BYTES = 128 * 2 ** 20;
const SCRATCH_CHECK_MS = 500;

/** Kills a compiler that writes more to its temporary folder than its own files. */
function watchScratch(bounded: BoundedProcess, folder: string): () => void {
  let isChecking = false;
  const checkScratch = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    const bytes = await sizeOfFolder(folder).finally(() => (isChecking = false));
    if (bytes > SCRATCH_BYTES) bounded.kill('compiler_crashed', 'writes too much');
  };
  const timer = setInterval(() => void checkScratch().catch(() => undefined), SCRATCH_CHECK_MS);
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
 * Compiles one input with a native compiler, in a process that starts in an empty folder: unlike a soljson it
 * resolves imports in the file system, and must find nothing there. If the system supports it, the process
 * has no other files, no network, and an unprivileged user.
 * @throws FullmatchError compiler_timeout, compiler_out_of_memory, compiler_output_too_large,
 * compiler_crashed; the signal's reason.
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
        ...(isolation.cage?.ownUser === true && { processes: MAX_PROCESSES }),
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
      // Vyper also exits with an error code if the sources have errors.
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
