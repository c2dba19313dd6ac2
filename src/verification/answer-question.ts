import { type RecompiledCode } from '../bytecode/recompiled-code.ts';
import { type CompilationTarget } from '../compilers/output-selection.ts';
import { FullmatchError, messageOf, type ErrorCode } from '../errors.ts';
import { readVerificationTask, type VerificationTask } from './read-compilation-task.ts';
import {
  readOutputImmutables,
  readTargetOutput,
  type RawOutput,
  type TargetOutput,
} from './read-output.ts';
import { VerificationFailure, type FailureCode } from './verification-failure.ts';
import { type VerificationRequest } from './verification-request.ts';

/** What a job has read: its request, as JSON, or what the compiler wrote. */
export type JobQuestion =
  | { readonly read: 'task'; readonly bytes: Uint8Array; readonly sourceBytes: number }
  | ({ readonly read: 'target'; readonly target: CompilationTarget } & RawOutput)
  | ({ readonly read: 'immutables' } & RawOutput);

/** What comes of each question. */
export interface JobReadings {
  readonly task: VerificationTask;
  readonly target: TargetOutput;
  readonly immutables: NonNullable<RecompiledCode['immutableTypes']>;
}

type Facts = Readonly<Record<string, unknown>>;

/** An answer as it can be handed over from a thread: errors lose their class on the way. */
export type JobAnswer =
  | { readonly value: JobReadings[keyof JobReadings] }
  | { readonly failure: { code: FailureCode; message: string; data: Facts } }
  | { readonly error: { code: ErrorCode; message: string; details: Facts } }
  | { readonly fault: string };

/** Answers a question; whatever goes wrong is the answer too. */
export function answerQuestion(question: JobQuestion): JobAnswer {
  try {
    return { value: read(question) };
  } catch (error) {
    if (error instanceof VerificationFailure) {
      const { code, message, data } = error;
      return { failure: { code, message, data } };
    }
    if (error instanceof FullmatchError) {
      const { code, message, details } = error;
      return { error: { code, message, details } };
    }
    return { fault: error instanceof Error ? (error.stack ?? error.message) : messageOf(error) };
  }
}

function read(question: JobQuestion): JobReadings[keyof JobReadings] {
  switch (question.read) {
    case 'task':
      return readVerificationTask(readRequest(question.bytes), question.sourceBytes);
    case 'target':
      return readTargetOutput(question, question.target);
    case 'immutables':
      return readOutputImmutables(question);
  }
}

function readRequest({ buffer, byteOffset, byteLength }: Uint8Array): VerificationRequest {
  const json = Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  return JSON.parse(json) as VerificationRequest;
}
