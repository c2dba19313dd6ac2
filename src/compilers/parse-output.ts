import { FullmatchError } from '../errors.ts';
import { countJsonValues, JsonFault } from '../lib/untrusted-json.ts';
import { checkImports } from './check-input.ts';
import { type StandardJsonOutput } from '../solidity/standard-json.ts';

/** A compiler's raw output. */
export interface RawOutput {
  readonly bytes: Uint8Array;
  /** The compiler's long version, for error messages. */
  readonly version: string;
}

/**
 * Limits of an output. Its values determine the memory: this number needs about half a gigabyte, and a thread
 * that runs out of memory while parsing takes down the whole process.
 */
const OUTPUT_LIMITS = { depth: 100_000, values: 4_000_000 };

/**
 * Parses a compiler's output. It may be up to 64 MB and quote hostile sources, so parse large outputs off the
 * main thread.
 * @param version the compiler's long version
 * @throws FullmatchError compiler_crashed for anything but JSON, compiler_output_too_large,
 * compiler_out_of_memory, invalid_compiler_input
 */
export function parseOutput(bytes: Uint8Array, version: string): StandardJsonOutput {
  const output = readJson(bytes, version);
  checkOutOfMemory(output, version);
  checkImports(output);
  return output;
}

function readJson(bytes: Uint8Array, version: string): StandardJsonOutput {
  try {
    countJsonValues(bytes, OUTPUT_LIMITS);
    const { buffer, byteOffset, byteLength } = bytes;
    const text = Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
    return JSON.parse(text) as StandardJsonOutput;
  } catch (error) {
    if (error instanceof JsonFault) {
      throw new FullmatchError(
        'compiler_output_too_large',
        `The output of compiler ${version} contains more than ${OUTPUT_LIMITS.values} values.`,
      );
    }
    throw new FullmatchError('compiler_crashed', `Compiler ${version} did not return JSON.`, {
      cause: error,
    });
  }
}

/** A compiler that catches its own out-of-memory error reports it like an error in the sources. */
function checkOutOfMemory(output: StandardJsonOutput, version: string): void {
  const failed = (output.errors ?? []).some(
    ({ severity, message }) => severity === 'error' && /(?:: |^)std::bad_alloc\b/.test(message),
  );
  if (!failed) return;
  throw new FullmatchError(
    'compiler_out_of_memory',
    `Compiler ${version} exceeded its memory limit.`,
  );
}
