import { open } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { FullmatchError, type ErrorCode } from '../../errors.ts';
import { packageFile } from '../../lib/package-file.ts';
import { printableText } from '../../lib/printable-text.ts';
import { BoundedProcess } from './bounded-process.ts';
import { type CompilerFile } from '../compiler-file.ts';
import { type CompilerLimits, soljsonLimits, soljsonNodeFlags } from './compiler-limits.ts';
import { encodeRequest, FrameReader, type Frame } from './frames.ts';
import { type Isolation } from './isolation.ts';

/** Options for starting a soljson process. */
export interface SoljsonOptions {
  readonly limits: CompilerLimits;
  readonly isolation: Isolation;
}

const CHILD_FOLDER = fileURLToPath(packageFile('dist/compilers/processes/child/'));
const CHILD_PROGRAM = path.join(CHILD_FOLDER, 'soljson-child.mjs');
/** Loading takes half a second, but can take far longer on an overloaded machine. */
const LOAD_TIMEOUT_MS = 60_000;

/**
 * Returns the flags of Node's permission model: the child may read only its own program, and may not start
 * processes or threads. The compiler's file is passed as an open descriptor. The path list cannot contain a
 * comma or an asterisk.
 */
function permissionFlags(): readonly string[] {
  if (/[,*]/.test(CHILD_FOLDER)) return [];
  const flag = ['--permission', '--experimental-permission'].find((name) =>
    process.allowedNodeEnvironmentFlags.has(name),
  );
  return flag === undefined ? [] : [flag, `--allow-fs-read=${CHILD_FOLDER}*`];
}

function readFailure(payload: Buffer): { code: ErrorCode; message: string } {
  const { code, message } = JSON.parse(payload.toString('utf8')) as Record<string, string>;
  // The child is our own program, so its codes are valid.
  return { code: code as ErrorCode, message: message ?? '' };
}

/**
 * A process with one loaded soljson that compiles one input at a time. Each compilation gets its own
 * instance, so no state leaks from one input to the next.
 */
export class SoljsonProcess {
  readonly file: CompilerFile;
  readonly #limits: CompilerLimits;
  readonly #process: BoundedProcess;
  readonly #frames: FrameReader;
  #usable = true;

  private constructor(file: CompilerFile, limits: CompilerLimits, process: BoundedProcess) {
    this.file = file;
    this.#limits = limits;
    this.#process = process;
    this.#frames = new FrameReader(process.output, limits.outputBytes, (bytes) => {
      process.kill('compiler_output_too_large', `answers with ${bytes} bytes`, { bytes });
    });
    void process.ended.then(() => {
      this.#usable = false;
    });
  }

  /**
   * Starts a process and loads the compiler. The process verifies the checksum on the bytes that it executes.
   * @throws FullmatchError compiler_checksum_mismatch, compiler_timeout, compiler_out_of_memory,
   * compiler_crashed; the signal's reason.
   */
  static async start(
    file: CompilerFile,
    { limits, isolation }: SoljsonOptions,
    signal?: AbortSignal,
  ): Promise<SoljsonProcess> {
    const handle = await open(file.path, 'r');
    let bounded: BoundedProcess;
    try {
      const { memoryBytes, outputBytes } = limits;
      const options = { sha256: file.sha256, memoryBytes, outputBytes };
      bounded = new BoundedProcess({
        name: `Solidity ${file.longVersion}`,
        file: process.execPath,
        parameters: [
          '--no-warnings',
          '--expose-gc',
          ...soljsonNodeFlags(limits),
          ...permissionFlags(),
          CHILD_PROGRAM,
          JSON.stringify(options),
        ],
        directory: '/',
        limits: soljsonLimits(limits),
        isolation,
        descriptor: handle.fd,
      });
    } finally {
      await handle.close();
    }
    const started = new SoljsonProcess(file, limits, bounded);
    const cancel = (): void => bounded.kill('shutting_down', 'was cancelled');
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      if (signal?.aborted === true) cancel();
      await started.#load();
      return started;
    } finally {
      signal?.removeEventListener('abort', cancel);
      signal?.throwIfAborted();
    }
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Whether it can compile again: it has neither ended nor failed. */
  get usable(): boolean {
    return this.#usable;
  }

  /**
   * Compiles one input; one call at a time. With `rootSource`, the compiler requests the other sources as it
   * reads their imports. After a failure the process is ended.
   * @throws FullmatchError compiler_timeout, compiler_out_of_memory, compiler_output_too_large,
   * compiler_crashed.
   */
  async compile(input: Buffer, rootSource?: string): Promise<Buffer> {
    const answer = this.#frames.next();
    this.#process.input.write(encodeRequest(input, rootSource));
    const frame = await this.#process
      .watch(answer, this.#limits.wallTimeMs)
      .catch((error: unknown) => {
        this.#usable = false;
        throw error;
      });
    return this.#read(frame, 'O');
  }

  /** Settles when the process has ended, for whatever reason; never rejects. */
  get ended(): Promise<unknown> {
    return this.#process.ended;
  }

  /** Returns its resident memory in bytes. */
  residentBytes(): Promise<number> {
    return this.#process.residentBytes();
  }

  /** Ends the process; pending work fails with the reason. Settles when it has ended. */
  async end(code: ErrorCode = 'compiler_crashed', reason = 'was ended'): Promise<void> {
    this.#usable = false;
    this.#process.kill(code, reason);
    await this.#process.ended;
  }

  async #load(): Promise<void> {
    try {
      const frame = await this.#process.watch(this.#frames.next(), LOAD_TIMEOUT_MS);
      const { version } = JSON.parse(this.#read(frame, 'R').toString('utf8')) as {
        version: string;
      };
      const { longVersion } = this.file;
      // Builds before 0.4.1 report only their release.
      if (longVersion === version || longVersion.startsWith(`${version}+commit.`)) return;
      throw new FullmatchError(
        'compiler_checksum_mismatch',
        `The file of Solidity ${this.file.longVersion} holds ${printableText(version)}.`,
        { details: { path: this.file.path, version: printableText(version) } },
      );
    } catch (error) {
      await this.end();
      throw error;
    }
  }

  /** Returns the payload of a frame of the expected kind. */
  #read(frame: Frame, expected: string): Buffer {
    if (frame.kind === expected) return frame.payload;
    this.#usable = false;
    const { code, message } =
      frame.kind === 'F'
        ? readFailure(frame.payload)
        : { code: 'compiler_crashed' as const, message: 'it answered out of turn' };
    throw new FullmatchError(
      code,
      `Solidity ${this.file.longVersion} failed: ${printableText(message)}.`,
    );
  }
}
