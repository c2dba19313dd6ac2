import { CODE_MAX_BYTES } from '../lib/code-max-bytes.ts';
import { VerificationFailure } from './verification-failure.ts';

/** @throws VerificationFailure code_too_large */
export function requireBytecodeSize(which: string, bytes: number): void {
  if (bytes <= CODE_MAX_BYTES) return;
  throw new VerificationFailure(
    'code_too_large',
    `The code ${which} has ${bytes} bytes; at most ${CODE_MAX_BYTES} are compared.`,
    { data: { bytes, maxBytes: CODE_MAX_BYTES } },
  );
}
