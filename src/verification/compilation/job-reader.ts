import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { packageFile } from '../../lib/package-file.ts';
import { FullmatchError } from '../../errors.ts';
import { TaskThread, ThreadFault, type ThreadFaultKind } from '../../lib/task-thread.ts';
import {
  answerQuestion,
  type JobReadOutcome,
  type JobQuestion,
  type JobReadResults,
} from './answer-question.ts';
import { VerificationFailure } from '../verification-failure.ts';

/** Reads large untrusted data for jobs on a separate thread, small data inline. */
export interface JobReader {
  /**
   * Answers a question: reads untrusted data, or packs a request. The bytes of a task are a packed request.
   * @throws as {@link readVerificationTask} for a task, and as {@link readTargetOutput} for compiler output. If
   * reading needs too much memory or time: VerificationFailure sources_too_large, job_timed_out; for compiler
   * output FullmatchError compiler_output_too_large. FullmatchError shutting_down; the reason of `signal`
   */
  ask<Question extends JobQuestion>(
    question: Question,
    signal: AbortSignal,
  ): Promise<JobReadResults[Question['read']]>;
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
  const answer = async (asked: JobQuestion, signal: AbortSignal): Promise<JobReadOutcome> => {
    // The cost of remappings is their number times the number of imports; packing compresses.
    if (!('bytes' in asked)) return askThread(asked, [], signal);
    // Inflating runs on threads of its own.
    const bytes = asked.read === 'task' ? await inflateAsync(asked.bytes) : asked.bytes;
    const question = { ...asked, bytes };
    return bytes.length <= SMALL_BYTES
      ? answerQuestion(question)
      : askThread(question, ownMemory(bytes), signal);
  };
  return {
    ask: async <Question extends JobQuestion>(question: Question, signal: AbortSignal) =>
      valueOf(await answer(question, signal)) as JobReadResults[Question['read']],
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
