import { spawn, type ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import { type Readable, type Writable } from 'node:stream';
import { FullmatchError, type ErrorCode } from '../../errors.ts';
import { printableText } from '../../lib/printable-text.ts';
import { killGroupOnExit } from './group-watcher.ts';
import { COMPILER_ENVIRONMENT, type Isolation } from './isolation.ts';
import { readResidentBytes } from './resident-memory.ts';

/** Resource limits of a process, in bytes and milliseconds. */
export interface ProcessLimits {
  /** Resident memory, polled while it works; exceeding it kills the process. */
  readonly residentBytes: number;
  /** Data segment limit, enforced by the kernel (`ulimit -d`). */
  readonly dataBytes: number;
  /** Address space limit, enforced by the kernel (`ulimit -v`); not for Node, which reserves far more than it uses. */
  readonly addressBytes?: number;
  /** Size limit of each file that it writes; if absent, it cannot write any. */
  readonly fileBytes?: number;
  /** Limit on the processes and threads of its user (`ulimit -u`); only for a dedicated user. */
  readonly processes?: number;
}

/** A program to run with limits. */
export interface BoundedCommand {
  /** Its name in messages. */
  readonly name: string;
  readonly file: string;
  readonly parameters: readonly string[];
  readonly directory: string;
  readonly limits: ProcessLimits;
  readonly isolation: Isolation;
  /** Environment variables in addition to those of every compiler. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Command prefix that confines it to a folder; also cuts off the network. */
  readonly cage?: readonly string[];
  /** A file descriptor of this process that becomes descriptor 3 of the program. */
  readonly descriptor?: number;
}

/** The exit code of a process, or the signal that killed it. */
export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

const MEMORY_CHECK_MS = 100;
/** How long to wait for a killed process to end. */
const KILL_GRACE_MS = 2000;
const STDERR_KEPT_BYTES = 8192;
const SHOWN_REASON_LENGTH = 200;
const BYTES_PER_KIB = 1024;
const FILE_BLOCK_BYTES = 512;
/** Low priority, so that requests come before compilations. */
const PRIORITY = 5;

/**
 * Sets the limits of its process, then becomes the program: $1 data, $2 address space (KiB), $3 processes, $4
 * file size (blocks of 512 bytes, as in POSIX), the rest is the command. Shells call the process limit -u or
 * -p. Limits that the system does not support are skipped. Core dumps are disabled; if memory runs out, the
 * kernel kills the compiler first.
 */
const SET_LIMITS = `
ulimit -c 0
ulimit -d "$1" 2>/dev/null
[ "$2" = - ] || ulimit -v "$2" 2>/dev/null
if [ "$3" != - ]; then
  if (ulimit -u "$3") 2>/dev/null; then ulimit -u "$3"; else ulimit -p "$3" 2>/dev/null; fi
fi
echo 900 2>/dev/null >/proc/self/oom_score_adj
ulimit -f "$4"
shift 4
exec "$@"
`;

/** How V8 and compilers report on standard error that memory ran out. */
const OUT_OF_MEMORY = /out of memory|bad_alloc|allocation failed|cannot allocate/i;

function commandLine(command: BoundedCommand): readonly string[] {
  const { limits, isolation, cage } = command;
  const kib = (bytes: number): string => String(Math.floor(bytes / BYTES_PER_KIB));
  return [
    ...(cage === undefined ? (isolation.withoutNetwork ?? []) : []),
    ...(isolation.endsWithParent ?? []),
    '/bin/sh',
    '-c',
    SET_LIMITS,
    'sh',
    kib(limits.dataBytes),
    limits.addressBytes === undefined ? '-' : kib(limits.addressBytes),
    limits.processes === undefined ? '-' : String(limits.processes),
    String(Math.floor((limits.fileBytes ?? 0) / FILE_BLOCK_BYTES)),
    ...(cage ?? []),
    command.file,
    ...command.parameters,
  ];
}

/**
 * A program with limits, in its own process group, with a minimal environment, and without network if the
 * system supports it. It leaves no processes behind.
 */
export class BoundedProcess {
  /** Undefined if it could not be started. */
  readonly pid: number | undefined;
  /** Standard input; writing after the process has ended has no effect. */
  readonly input: Writable;
  readonly output: Readable;
  /** Settles when the process has ended and its output is read; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #residentLimit: number;
  #stderr = '';
  #fault: FullmatchError | undefined;
  #running = true;
  /** Settles `ended` if a killed process does not end. */
  #giveUp: () => void = () => undefined;

  constructor(command: BoundedCommand) {
    const [file = '', ...parameters] = commandLine(command);
    const { descriptor } = command;
    this.#name = command.name;
    this.#residentLimit = command.limits.residentBytes;
    const child = spawn(file, parameters, {
      cwd: command.directory,
      env: { ...COMPILER_ENVIRONMENT, ...command.environment },
      stdio: ['pipe', 'pipe', 'pipe', ...(descriptor === undefined ? [] : [descriptor])],
      detached: true,
    });
    this.#child = child;
    this.pid = child.pid;
    // The first three descriptors are pipes, as configured.
    this.input = child.stdin as Writable;
    this.output = child.stdout as Readable;
    // If the process ends while it is written to, the pipe breaks; `ended` reports how it ended.
    this.input.on('error', () => undefined);
    child.stderr?.on('data', (chunk: Buffer) => this.#keepStderr(chunk));
    // The kernel drops the parent-death signal when the process changes its user.
    const isUnwatched =
      command.isolation.endsWithParent === undefined || command.cage !== undefined;
    if (isUnwatched && child.pid !== undefined) {
      child.once('exit', killGroupOnExit(child.pid));
    }
    this.ended = this.#watchEnd();
    this.#lowerPriority();
  }

  /** Describes how the process ended, with an error code; call it after the end. */
  describeEnd({ exitCode, signal }: ProcessEnd): FullmatchError {
    if (this.#fault !== undefined) return this.#fault;
    const said = printableText(this.#stderr.trim(), SHOWN_REASON_LENGTH);
    if (OUT_OF_MEMORY.test(this.#stderr)) {
      return this.#describe('compiler_out_of_memory', 'ran out of memory', { said });
    }
    const how = signal === null ? `with exit code ${String(exitCode)}` : `by ${signal}`;
    return this.#describe('compiler_crashed', `ended ${how}`, { said });
  }

  /** Kills the process and its group; the first reason given is reported. */
  kill(code: ErrorCode, reason: string, details: Record<string, unknown> = {}): void {
    if (!this.#running) return;
    this.#fault ??= this.#describe(code, reason, details);
    this.#killGroup();
    setTimeout(() => this.#giveUp(), KILL_GRACE_MS).unref();
  }

  /**
   * Applies the time and memory limits from now on; exceeding one kills the process. The returned function
   * lifts them, so that a process may be idle.
   */
  limit(wallTimeMs: number): () => void {
    const timer = setTimeout(() => {
      this.kill('compiler_timeout', `took longer than ${wallTimeMs / 1000} s`, { wallTimeMs });
    }, wallTimeMs);
    const guard = setInterval(() => void this.#checkMemory(), MEMORY_CHECK_MS);
    return () => {
      clearTimeout(timer);
      clearInterval(guard);
    };
  }

  /** Waits for work of the process, within limits; rejects if the process ends first. */
  async watch<T>(work: Promise<T>, wallTimeMs: number): Promise<T> {
    const release = this.limit(wallTimeMs);
    try {
      const failed = this.ended.then((end) => Promise.reject(this.describeEnd(end)));
      return await Promise.race([work, failed]);
    } finally {
      release();
    }
  }

  /** Returns its resident memory in bytes; 0 after it has ended. */
  async residentBytes(): Promise<number> {
    return this.pid === undefined || !this.#running ? 0 : readResidentBytes(this.pid);
  }

  async #checkMemory(): Promise<void> {
    const bytes = await this.residentBytes();
    if (bytes <= this.#residentLimit) return;
    const limitMiB = Math.floor(this.#residentLimit / 2 ** 20);
    this.kill('compiler_out_of_memory', `took more than ${limitMiB} MiB of memory`, {
      residentBytes: bytes,
    });
  }

  #describe(code: ErrorCode, reason: string, details: Record<string, unknown>): FullmatchError {
    return new FullmatchError(code, `${this.#name} ${reason}.`, { details });
  }

  #keepStderr(chunk: Buffer): void {
    this.#stderr = (this.#stderr + chunk.toString('latin1')).slice(-STDERR_KEPT_BYTES);
  }

  #watchEnd(): Promise<ProcessEnd> {
    return new Promise((resolve) => {
      this.#giveUp = () => resolve({ exitCode: null, signal: 'SIGKILL' });
      this.#child.once('error', (error: NodeJS.ErrnoException) => {
        if (this.#child.pid !== undefined) return;
        this.#running = false;
        const details = { reason: error.code ?? 'UNKNOWN' };
        this.#fault ??= new FullmatchError(
          'compiler_crashed',
          `${this.#name} could not be started.`,
          { details, cause: error },
        );
        resolve({ exitCode: null, signal: null });
      });
      this.#child.once('exit', () => {
        this.#running = false;
        // Its child processes share its group and must not outlive it.
        this.#killGroup();
      });
      this.#child.once('close', (exitCode, signal) => resolve({ exitCode, signal }));
    });
  }

  #killGroup(): void {
    if (this.pid === undefined) return;
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // Already gone.
    }
  }

  #lowerPriority(): void {
    if (this.pid === undefined) return;
    try {
      setPriority(this.pid, PRIORITY);
    } catch {
      // Already ended, or not permitted: it then runs at normal priority.
    }
  }
}
