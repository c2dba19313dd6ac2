// The program of a compiler's child process: reads a soljson.js from descriptor 3, then compiles one input after the
// other, each with a fresh instance. It is JavaScript with types in comments, so that it runs unchanged from src/ and
// dist/ without a loader: its start-up time and memory count for every process in the pool.
//
// Request:  u32 length, u32 length of root + 1 or 0, root, standard JSON input      (big-endian, as below)
// Response: u8 kind, u32 length, payload
//   R ready   {"version"}            once, after the start
//   O output  standard JSON output
//   F failure {"code", "message"}    instead of R or O

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CompilerFailure, SoljsonProgram } from './soljson-instance.mjs';

const SOLJSON_DESCRIPTOR = 3;
const LENGTH_BYTES = 4;
/** Idle time after which memory is released. */
const IDLE_MS = 500;
const LARGE_MEMORY_BYTES = 128 * 2 ** 20;

/** @typedef {{ sha256?: string, memoryBytes: number, outputBytes: number }} ChildOptions */

/**
 * @param {string} kind
 * @param {Buffer} payload
 * @param {() => void} [sent]
 */
function answer(kind, payload, sent) {
  const head = Buffer.alloc(1 + LENGTH_BYTES);
  head.write(kind, 0, 'latin1');
  head.writeUInt32BE(payload.length, 1);
  process.stdout.write(head);
  process.stdout.write(payload, sent);
}

/** @param {unknown} error */
function answerFailure(error) {
  const failure =
    error instanceof CompilerFailure
      ? { code: error.code, message: error.message }
      : {
          code: 'compiler_crashed',
          message: error instanceof Error ? error.message : String(error),
        };
  answer('F', Buffer.from(JSON.stringify(failure)));
}

/**
 * Loads the program after verifying its checksum on the same bytes that are executed.
 *
 * @param {ChildOptions} options
 * @returns {SoljsonProgram}
 */
function load({ sha256, memoryBytes }) {
  const bytes = readFileSync(SOLJSON_DESCRIPTOR);
  if (sha256 !== undefined && createHash('sha256').update(bytes).digest('hex') !== sha256) {
    throw new CompilerFailure('compiler_checksum_mismatch', 'its file changed');
  }
  // One byte per character: soljson contains nothing else, and such strings take half the memory.
  const text = bytes.toString('latin1');
  return new SoljsonProgram(text, memoryBytes);
}

/**
 * @param {Buffer} request
 * @returns {{ input: Buffer, root?: string }}
 */
function readRequest(request) {
  const rootLength = request.readUInt32BE(0) - 1;
  if (rootLength < 0) return { input: request.subarray(LENGTH_BYTES) };
  const end = LENGTH_BYTES + rootLength;
  return { root: request.toString('utf8', LENGTH_BYTES, end), input: request.subarray(end) };
}

/**
 * Calls back for each complete request on standard input.
 * @param {(input: Buffer) => void} onRequest
 */
function listen(onRequest) {
  /** @type {Buffer[]} */
  let chunks = [];
  let length = 0;
  process.stdin.on('data', (/** @type {Buffer} */ chunk) => {
    chunks.push(chunk);
    length += chunk.length;
    const [first] = chunks;
    if (length < LENGTH_BYTES || first === undefined) return;
    if (first.length < LENGTH_BYTES) chunks = [Buffer.concat(chunks)];
    const size = LENGTH_BYTES + /** @type {Buffer} */ (chunks[0]).readUInt32BE(0);
    if (length < size) return;
    const request = Buffer.concat(chunks);
    chunks = [];
    length = 0;
    onRequest(request.subarray(LENGTH_BYTES, size));
  });
}

/** @param {ChildOptions} options */
function main(options) {
  const program = load(options);
  /** @type {import('./soljson-instance.mjs').SoljsonInstance | undefined} */
  let next = program.instantiate();
  const version = next.version();
  /** @type {NodeJS.Timeout | undefined} */
  let idle;
  /**
   * Creates the next instance while idle. Garbage collection takes time, so it is postponed until no request
   * has arrived for a while, unless the last instance left a lot of memory behind.
   * @param {number} leftBytes
   */
  const renew = (leftBytes) => {
    if (leftBytes > LARGE_MEMORY_BYTES) globalThis.gc?.();
    else idle = setTimeout(() => globalThis.gc?.(), IDLE_MS);
    next ??= program.instantiate();
  };
  listen((request) => {
    clearTimeout(idle);
    const { input, root } = readRequest(request);
    const instance = next ?? program.instantiate();
    next = undefined;
    try {
      const output = instance.compile(input, root);
      if (output.length > options.outputBytes) {
        throw new CompilerFailure('compiler_output_too_large', `${output.length} bytes of output`);
      }
      const leftBytes = instance.memoryBytes();
      answer('O', output, () => setImmediate(renew, leftBytes));
    } catch (error) {
      // The process is ended after such a failure.
      answerFailure(error);
    }
  });
  answer('R', Buffer.from(JSON.stringify({ version })));
}

try {
  /** @type {unknown} */
  const options = JSON.parse(process.argv[2] ?? '{}');
  main(/** @type {ChildOptions} */ (options));
} catch (error) {
  answerFailure(error);
}
