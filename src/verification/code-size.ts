import { VerificationFailure } from './verification-failure.ts';

/**
 * The largest code that is compared, in bytes. Ethereum deploys codes of 24,576 bytes and takes creation codes of
 * 49,152 (EIP-170, EIP-3860); chains that allow more stay far below this.
 */
export const CODE_MAX_BYTES = 1_000_000;

/** @throws VerificationFailure code_too_large */
export function requireBounded(which: string, bytes: number): void {
  if (bytes <= CODE_MAX_BYTES) return;
  throw new VerificationFailure(
    'code_too_large',
    `The code ${which} has ${bytes} bytes; codes of at most ${CODE_MAX_BYTES} are compared.`,
    { data: { bytes, maxBytes: CODE_MAX_BYTES } },
  );
}
