import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { type RawOutput } from '../../compilers/parse-output.ts';
import { packageFile } from '../../lib/package-file.ts';
import { type CompilationTarget } from '../../solidity/standard-json.ts';
import { FullmatchError } from '../../errors.ts';
import { TaskThread, ThreadFault, type ThreadFaultKind } from '../../lib/task-thread.ts';
import {
  answerQuestion,
  type JobReadOutcome,
  type JobQuestion,
  type JobReadResults,
  type ReadQuestion,
} from './answer-question.ts';
import { type TargetOutput } from './read-output.ts';
import { type SimilarityTask, type VerificationTask } from './read-compilation-task.ts';
import { type RemappingContext } from './used-remappings.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { type PackedRequest, type VerificationRequest } from '../verification-request.ts';

/** Reads large untrusted data for jobs on a separate thread, small data inline. */
export interface JobReader {
  /**
   * Reads a packed request.
   * @throws as {@link readVerificationTask}; VerificationFailure sources_too_large, job_timed_out if reading
   * needs too much memory or time; FullmatchError shutting_down; the reason of `signal`
   */
  readTask(
    packed: Uint8Array,
    sourceBytes: number,
    signal: AbortSignal,
  ): Promise<VerificationTask | SimilarityTask>;
  /**
   * Reads the compiler output of a contract, and of the others if requested.
   * @throws as {@link readTargetOutput}; FullmatchError compiler_output_too_large if reading needs too much
   * time or memory, shutting_down; the reason of `signal`
   */
  readTarget(
    output: RawOutput,
    target: CompilationTarget,
    signal: AbortSignal,
    options?: { readonly withOthers: boolean },
  ): Promise<TargetOutput>;
  /**
   * Reads the bytecode of all contracts in a compiler output.
   * @throws as `readTarget`
   */
  readOutputCodes(output: RawOutput, signal: AbortSignal): Promise<JobReadResults['output_codes']>;
  /**
   * Reads the types of the immutables from the syntax trees in a compiler output.
   * @throws as `readTarget`
   */
  readImmutables(output: RawOutput, signal: AbortSignal): Promise<JobReadResults['immutables']>;
  /**
   * Reads the syntax trees of a Vyper program; `sources` are the paths of all sources.
   * @throws as `readTarget`
   */
  readVyperTrees(
    output: RawOutput,
    main: string,
    sources: readonly string[],
    signal: AbortSignal,
  ): Promise<JobReadResults['vyper_trees']>;
  /**
   * Reads the keys of the runtime bytecode of every contract in a compiler output.
   * @throws as `readTarget`
   */
  readRunningCodes(output: RawOutput, signal: AbortSignal): Promise<JobReadResults['codes']>;
  /**
   * Finds the remappings that an import uses, always on the thread.
   * @throws as `readTask`
   */
  readRemappings(
    remapped: RemappingContext,
    signal: AbortSignal,
  ): Promise<JobReadResults['remappings']>;
  /**
   * Packs a request that this service creates itself, always on the thread.
   * @throws as `readTask`
   */
  pack(request: VerificationRequest, signal: AbortSignal): Promise<PackedRequest>;
  close(): Promise<void>;
}

const MIB = 2 ** 20;
/** Data up to this size takes a few milliseconds to read: most requests and outputs. */
const SMALL_BYTES = 256 * 1024;
/** Syntax trees, the densest outputs, need ten times their size in memory. */
const LIMITS = {
  heapBytes: 1024 * MIB,
  taskTimeoutMs: 60_000,
  idleMs: 5_000,
  queueLimit: 1000,
};
/** Each worker has one question at a time, so first come, first served is fair. */
const CLIENT = 'workers';

const inflateAsync = promisify(inflate);

/** Creates the reader; its thread starts on first use. */
export function createJobReader(): JobReader {
  const program = packageFile('dist/verification/compilation/job-thread.js');
  const thread = new TaskThread<JobQuestion, JobReadOutcome>(program, LIMITS);
  const askThread = (
    question: JobQuestion,
    transfer: readonly ArrayBuffer[],
    signal: AbortSignal,
  ): Promise<JobReadOutcome> =>
    thread.ask(question, { client: CLIENT, transfer, signal }).catch((error: unknown) => {
      throw error instanceof ThreadFault ? threadError(error, question) : error;
    });
  const ask = async <Read extends ReadQuestion['read']>(
    question: ReadQuestion & { readonly read: Read },
    signal: AbortSignal,
  ): Promise<JobReadResults[Read]> => {
    // The cost of remappings is their number times the number of imports.
    const isSmall = question.read !== 'remappings' && question.bytes.length <= SMALL_BYTES;
    const answer = isSmall
      ? answerQuestion(question)
      : await askThread(question, ownMemory(question.bytes), signal);
    return valueOf(answer) as JobReadResults[Read];
  };
  return {
    readTask: async (packed, sourceBytes, signal) =>
      // Inflating runs on threads of its own.
      ask({ read: 'task', bytes: await inflateAsync(packed), sourceBytes }, signal),
    readTarget: ({ bytes, version }, target, signal, { withOthers } = { withOthers: false }) =>
      ask({ read: 'target', bytes, version, target, withOthers }, signal),
    readOutputCodes: ({ bytes, version }, signal) =>
      ask({ read: 'output_codes', bytes, version }, signal),
    readImmutables: ({ bytes, version }, signal) =>
      ask({ read: 'immutables', bytes, version }, signal),
    readVyperTrees: ({ bytes, version }, main, sources, signal) =>
      ask({ read: 'vyper_trees', bytes, version, main, sources }, signal),
    readRunningCodes: ({ bytes, version }, signal) =>
      ask({ read: 'codes', bytes, version }, signal),
    readRemappings: (remapped, signal) =>
      ask({ read: 'remappings', bytes: Buffer.from(JSON.stringify(remapped)) }, signal),
    pack: async (request, signal) =>
      valueOf(await askThread({ read: 'pack', request }, [], signal)) as PackedRequest,
    close: () => thread.close(),
  };
}

/**
 * Returns the buffer that can be transferred with the bytes, if the view reaches to its end, so that nothing
 * else is in it.
 */
function ownMemory({ buffer, byteOffset, byteLength }: Uint8Array): readonly ArrayBuffer[] {
  const isLast = byteOffset + byteLength === buffer.byteLength;
  return isLast && buffer instanceof ArrayBuffer ? [buffer] : [];
}

function valueOf(answer: JobReadOutcome): JobReadResults[keyof JobReadResults] {
  if ('value' in answer) return answer.value;
  if ('failure' in answer) {
    const { code, message, data } = answer.failure;
    throw new VerificationFailure(code, message, { data });
  }
  if ('error' in answer) {
    const { code, message, details } = answer.error;
    throw new FullmatchError(code, message, { details });
  }
  throw new Error(`a job could not be read: ${answer.fault}`);
}

function threadError(fault: ThreadFault, question: JobQuestion): Error {
  if (fault.kind === 'closed') {
    return new FullmatchError('shutting_down', 'The service is shutting down.');
  }
  if (!isTooMuch(fault.kind)) return fault;
  // Compiler output states the version of its compiler; all else comes from the request.
  if ('version' in question) {
    return new FullmatchError(
      'compiler_output_too_large',
      'Reading the compiler output takes too long or too much memory.',
    );
  }
  return fault.kind === 'out_of_memory'
    ? new VerificationFailure(
        'sources_too_large',
        'Reading the request needs too much memory; send fewer and smaller files.',
      )
    : new VerificationFailure('job_timed_out', 'Reading the request took too long.');
}

function isTooMuch(kind: ThreadFaultKind): boolean {
  return kind === 'out_of_memory' || kind === 'timed_out';
}
