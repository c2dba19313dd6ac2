import { spawn, type ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import { type Readable, type Writable } from 'node:stream';
import { FullmatchError, type ErrorCode } from '../../errors.ts';
import { printableText } from '../../lib/printable-text.ts';
import { endGroupWithProgram } from './group-watcher.ts';
import { COMPILER_ENVIRONMENT, type Isolation } from './isolation.ts';
import { readResidentBytes } from './resident-memory.ts';

/** What a process may use. Bytes and milliseconds. */
export interface ProcessLimits {
  /** Memory that it may hold, measured while it works: past it, it is killed. */
  readonly residentBytes: number;
  /** What the kernel lets it allocate as data (`ulimit -d`). */
  readonly dataBytes: number;
  /** What the kernel lets it map at all (`ulimit -v`); not for Node, which reserves far more than it uses. */
  readonly addressBytes?: number;
  /** What one file may have that it writes; without it none may have anything. */
  readonly fileBytes?: number;
  /** Most processes and threads of its user (`ulimit -u`), for a user that nobody else is. */
  readonly processes?: number;
}

/** A program to run under limits. */
export interface BoundedCommand {
  /** What it is called in messages. */
  readonly name: string;
  readonly file: string;
  readonly parameters: readonly string[];
  readonly directory: string;
  readonly limits: ProcessLimits;
  readonly isolation: Isolation;
  /** Variables beside those of every compiler. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What shuts it up in a folder, in front of its file; it takes the network away as well. */
  readonly cage?: readonly string[];
  /** A descriptor of this process that becomes descriptor 3 of the program. */
  readonly descriptor?: number;
}

/** The exit code of a process, or the signal that killed it. */
export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

const MEMORY_CHECK_MS = 100;
/** How long a killed process may take to end before nobody waits for it any more. */
const KILL_GRACE_MS = 2000;
const STDERR_KEPT_BYTES = 8192;
const SHOWN_REASON_LENGTH = 200;
const BYTES_PER_KIB = 1024;
const FILE_BLOCK_BYTES = 512;
/** Requests of the service come before compilations. */
const PRIORITY = 5;

/**
 * Sets the limits of its process, then becomes the program: $1 data, $2 address space (KiB), $3 processes, $4 a file
 * (blocks of 512 bytes, as POSIX has them), the rest the command. Shells name the limit of processes -u or -p.
 * A limit that the system does not know is left out. No core dumps; and when memory runs out, the
 * kernel takes the compiler before anything else.
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

/** How V8 and compilers say on standard error that memory ran out. */
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
 * A program in a process group of its own, with an empty environment, without network where the system allows it, and
 * under limits. Ended, it leaves nothing behind.
 */
export class BoundedProcess {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Standard input; writing to a process that ended does nothing. */
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
  /** Settles `ended` for a process that does not end although it was killed. */
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
    // The first three are pipes, as asked.
    this.input = child.stdin as Writable;
    this.output = child.stdout as Readable;
    // A process that ends while it is written to breaks the pipe; `ended` reports how it ended.
    this.input.on('error', () => undefined);
    child.stderr?.on('data', (chunk: Buffer) => this.#keepStderr(chunk));
    // The kernel forgets to end a process with its parent when that becomes another user.
    const isUnwatched =
      command.isolation.endsWithParent === undefined || command.cage !== undefined;
    if (isUnwatched && child.pid !== undefined) {
      child.once('exit', endGroupWithProgram(child.pid));
    }
    this.ended = this.#watchEnd();
    this.#lowerPriority();
  }

  /** How it ended in words of the error table; call it when it has ended. */
  describeEnd({ exitCode, signal }: ProcessEnd): FullmatchError {
    if (this.#fault !== undefined) return this.#fault;
    const said = printableText(this.#stderr.trim(), SHOWN_REASON_LENGTH);
    if (OUT_OF_MEMORY.test(this.#stderr)) {
      return this.#describe('compiler_out_of_memory', 'ran out of memory', { said });
    }
    const how = signal === null ? `with exit code ${String(exitCode)}` : `by ${signal}`;
    return this.#describe('compiler_crashed', `ended ${how}`, { said });
  }

  /** Ends the process and everything that it started; the first reason given is the one that is reported. */
  kill(code: ErrorCode, reason: string, details: Record<string, unknown> = {}): void {
    if (!this.#running) return;
    this.#fault ??= this.#describe(code, reason, details);
    this.#killGroup();
    setTimeout(() => this.#giveUp(), KILL_GRACE_MS).unref();
  }

  /**
   * Bounds the process in time and memory from now on: past either it is ended. The function given back stops that,
   * so that a process may wait idle.
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

  /** Waits for work that the process does, within limits; rejects with the reason when the process ends before. */
  async watch<T>(work: Promise<T>, wallTimeMs: number): Promise<T> {
    const release = this.limit(wallTimeMs);
    try {
      const failed = this.ended.then((end) => Promise.reject(this.describeEnd(end)));
      return await Promise.race([work, failed]);
    } finally {
      release();
    }
  }

  /** The memory that it holds, in bytes; 0 when it has ended. */
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
        // What it started shares its group, and must not outlive it.
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
      // Ended already, or not allowed: it then runs like everything else.
    }
  }
}
