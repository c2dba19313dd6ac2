import { type RawOutput } from '../../compilers/parse-output.ts';
import { type CompilationTarget } from '../../solidity/standard-json.ts';
import { FullmatchError, messageOf, type ErrorCode } from '../../errors.ts';
import { readContractKeys, type ContractKeys } from './read-contract-keys.ts';
import { readTask, type SimilarityTask, type VerificationTask } from './read-compilation-task.ts';
import {
  readOutputImmutables,
  readOutputCodes,
  readTargetOutput,
  readVyperTrees,
  type OutputCodes,
  type OutputImmutables,
  type TargetOutput,
  type VyperTrees,
} from './read-output.ts';
import { findUsedRemappings, type RemappingContext } from './used-remappings.ts';
import { VerificationFailure, type FailureCode } from '../verification-failure.ts';
import {
  packRequest,
  type PackedRequest,
  type SimilarityRequest,
  type VerificationRequest,
} from '../verification-request.ts';

/**
 * A read of untrusted data for a job (a request, the settings to publish from it, or compiler output), or the packing
 * of a new request.
 */
export type JobQuestion =
  | { readonly read: 'task'; readonly bytes: Uint8Array; readonly sourceBytes: number }
  | { readonly read: 'remappings'; readonly remapped: RemappingContext }
  | ({
      readonly read: 'target';
      readonly target: CompilationTarget;
      readonly withOthers?: boolean;
    } & RawOutput)
  | ({ readonly read: 'immutables' | 'output_codes' | 'codes' } & RawOutput)
  | ({
      readonly read: 'vyper_trees';
      readonly main: string;
      readonly sources: readonly string[];
    } & RawOutput)
  | { readonly read: 'pack'; readonly request: VerificationRequest };

/** The result type of each question. */
export interface JobReadResults {
  readonly task: VerificationTask | SimilarityTask;
  /** The remappings that an import uses. */
  readonly remappings: readonly unknown[];
  readonly target: TargetOutput;
  readonly output_codes: OutputCodes;
  readonly immutables: OutputImmutables;
  readonly vyper_trees: VyperTrees;
  readonly codes: readonly ContractKeys[];
  readonly pack: PackedRequest;
}

type Facts = Readonly<Record<string, unknown>>;

/** A result in a form that a thread can send: error classes do not survive structured cloning. */
export type JobReadOutcome =
  | { readonly value: JobReadResults[keyof JobReadResults] }
  | { readonly failure: { code: FailureCode; message: string; data: Facts } }
  | { readonly error: { code: ErrorCode; message: string; details: Facts } }
  | { readonly fault: string };

/** Answers a question. Errors are part of the answer; nothing is thrown. */
export function answerQuestion(question: JobQuestion): JobReadOutcome {
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

function read(question: JobQuestion): JobReadResults[keyof JobReadResults] {
  switch (question.read) {
    case 'task':
      return readTask(
        parseBytes<VerificationRequest | SimilarityRequest>(question.bytes),
        question.sourceBytes,
      );
    case 'remappings':
      return findUsedRemappings(question.remapped);
    case 'target':
      return readTargetOutput(question, question.target, question);
    case 'output_codes':
      return readOutputCodes(question);
    case 'immutables':
      return readOutputImmutables(question);
    case 'vyper_trees':
      return readVyperTrees(question, question.main, question.sources);
    case 'codes':
      return readContractKeys(question);
    case 'pack':
      return packRequest(question.request);
  }
}

function parseBytes<Parsed>({ buffer, byteOffset, byteLength }: Uint8Array): Parsed {
  return JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString('utf8')) as Parsed;
}
