import { FullmatchError, messageOf, type ErrorCode } from '../errors.ts';
import { type Hex } from '../lib/hex.ts';
import { isResourceShortage } from '../lib/resource-shortage.ts';
import { isStoreTrouble } from '../store/store-trouble.ts';

/**
 * The meaning of a failure for the contract: it does not match, the input is invalid, or the check could not
 * be made.
 */
export type FailureKind = 'no_match' | 'invalid_input' | 'not_checked';

/**
 * The stable codes of failed verification jobs, under the names that clients of the verification API v2 know.
 * Codes of {@link ERROR_CODES} that a part of the verification throws are included.
 */
export const FAILURE_KINDS = {
  missing_source: 'invalid_input',
  missing_or_invalid_source: 'invalid_input',
  sources_too_large: 'invalid_input',
  invalid_metadata: 'invalid_input',
  invalid_language: 'invalid_input',
  invalid_compilation_target: 'invalid_input',
  invalid_compiler_version: 'invalid_input',
  invalid_compiler_input: 'invalid_input',
  unsupported_setting: 'invalid_input',
  settings_not_proven: 'invalid_input',
  verbatim_not_allowed: 'invalid_input',
  unsupported_compiler_version: 'invalid_input',
  unsupported_language: 'invalid_input',
  unsupported_chain: 'invalid_input',
  compiler_error: 'invalid_input',
  no_compiler_output: 'invalid_input',
  contract_not_found_in_compiler_output: 'invalid_input',
  metadata_not_set: 'invalid_input',
  compiler_timeout: 'not_checked',
  compiler_out_of_memory: 'not_checked',
  compiler_output_too_large: 'not_checked',
  compiler_crashed: 'not_checked',
  compiler_unavailable: 'not_checked',
  cannot_fetch_bytecode: 'not_checked',
  contract_changed: 'not_checked',
  contract_not_deployed: 'invalid_input',
  delegated_account: 'invalid_input',
  compiled_bytecode_is_zero: 'no_match',
  bytecode_length_mismatch: 'no_match',
  code_too_large: 'invalid_input',
  extra_file_input_bug: 'no_match',
  immutable_out_of_range: 'no_match',
  immutable_not_proven: 'not_checked',
  library_not_deployed: 'no_match',
  library_address_differs: 'no_match',
  call_protection_missing: 'no_match',
  constructor_arguments_differ: 'no_match',
  no_match: 'no_match',
  no_similar_match_found: 'no_match',
  job_timed_out: 'not_checked',
  job_cancelled: 'not_checked',
  internal_error: 'not_checked',
} as const satisfies Record<string, FailureKind>;

export type FailureCode = keyof typeof FAILURE_KINDS;

/** Returns the kind of a failure code. An unknown code, of an older or newer version, counts as not checked. */
export function failureKindOf(code: string): FailureKind {
  return Object.hasOwn(FAILURE_KINDS, code) ? FAILURE_KINDS[code as FailureCode] : 'not_checked';
}

/** The compared bytecodes, and the transaction of the creation bytecode, if known. */
export interface ComparedCodes {
  readonly creationTransactionHash?: Hex;
  readonly recompiledCreationCode?: Hex;
  readonly recompiledRuntimeCode?: Hex;
  readonly onchainCreationCode?: Hex;
  readonly onchainRuntimeCode?: Hex;
}

/** A verification that ended without a match. Its message may be public. */
export class VerificationFailure extends Error {
  override readonly name = 'VerificationFailure';
  readonly code: FailureCode;
  /** Machine-readable facts: the missing sources, the compiler's messages, the first difference. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly codes: ComparedCodes;

  constructor(
    code: FailureCode,
    message: string,
    options: { data?: Record<string, unknown>; codes?: ComparedCodes; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data ?? {};
    this.codes = options.codes ?? {};
  }
}

/** Error codes that a failure reports under another name: if endpoints disagree, the bytecode is unknown. */
const RENAMED: Partial<Record<ErrorCode, FailureCode>> = {
  endpoints_disagree: 'cannot_fetch_bytecode',
  compiler_checksum_mismatch: 'compiler_unavailable',
  malformed_compiler_output: 'no_compiler_output',
};

function failureCodeOf(code: ErrorCode): FailureCode | undefined {
  const renamed = RENAMED[code];
  if (renamed !== undefined) return renamed;
  return Object.hasOwn(FAILURE_KINDS, code) && code !== 'internal_error'
    ? (code as FailureCode)
    : undefined;
}

/**
 * Converts an error that ended a verification to a failure. An unexpected error is this service's own fault;
 * its message is not shown.
 */
export function toVerificationFailure(error: unknown): VerificationFailure {
  if (error instanceof VerificationFailure) return error;
  if (error instanceof FullmatchError) {
    const code = failureCodeOf(error.code);
    if (code !== undefined) {
      return new VerificationFailure(code, error.message, {
        cause: error,
        data: { ...error.details },
      });
    }
  }
  return new VerificationFailure(
    'internal_error',
    'The service failed unexpectedly; its log has details under the error id.',
    { cause: error },
  );
}

/**
 * Returns whether an error is temporary and says nothing about the contract, such as a restarting database or
 * a full disk; the job is then retried.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof FullmatchError && error.code === 'shutting_down') return true;
  return isStoreTrouble(error) || isResourceShortage(error);
}

/** Returns the log message for an unexpected failure; undefined for the others. */
export function unexpectedCause({ code, cause }: VerificationFailure): string | undefined {
  if (code !== 'internal_error' || cause === undefined) return undefined;
  return cause instanceof Error ? (cause.stack ?? cause.message) : messageOf(cause);
}
