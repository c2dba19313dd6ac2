import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BoundedProcess } from './bounded-process.ts';
import { makeCompilerRoot } from './compiler-root.ts';
import { type CompilerFile } from '../compiler-file.ts';
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
    else bounded.kill('compiler_output_too_large', `answers with more than ${maxBytes} bytes`);
  });
  return () => Buffer.concat(chunks);
}

/** A compiler is one process; some have a few threads. */
const MOST_PROCESSES = 16;

/** The folder, or the file system, that a native compiler runs in. */
interface Sandbox {
  readonly program: string;
  readonly directory: string;
  readonly cage?: readonly string[];
  readonly remove: () => Promise<void>;
}

/** A file system of the compiler's own, where the system allows it; else an empty folder. */
async function makeSandbox(file: string, { cage }: Isolation): Promise<Sandbox> {
  if (cage !== undefined) {
    const { folder, program, workFolder, remove } = await makeCompilerRoot(file);
    return { program, directory: '/', cage: cage.command(folder, workFolder), remove };
  }
  const directory = await mkdtemp(path.join(tmpdir(), 'fullmatch-compiler-'));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  return { program: file, directory, remove };
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
  const sandbox = await makeSandbox(file.path, isolation);
  try {
    const bounded = new BoundedProcess({
      name: `Solidity ${file.longVersion}`,
      file: sandbox.program,
      parameters: ['--standard-json'],
      directory: sandbox.directory,
      limits: {
        ...nativeLimits(limits),
        ...(isolation.cage?.ownUser === true && { processes: MOST_PROCESSES }),
      },
      isolation,
      ...(sandbox.cage !== undefined && { cage: sandbox.cage }),
    });
    const release = bounded.limit(limits.wallTimeMs);
    const cancel = (): void => bounded.kill('compiler_crashed', 'was cancelled');
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted === true) cancel();
    try {
      const output = gather(bounded, limits.outputBytes);
      bounded.input.end(input);
      const end = await bounded.ended;
      if (end.exitCode !== 0) throw bounded.describeEnd(end);
      return output();
    } finally {
      release();
      signal?.removeEventListener('abort', cancel);
      signal?.throwIfAborted();
    }
  } finally {
    await sandbox.remove();
  }
}
