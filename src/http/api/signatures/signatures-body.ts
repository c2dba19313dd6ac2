import { z } from 'zod';

import { bytesToHex } from '../../../lib/hex.ts';
import { keccak256 } from '../../../lib/keccak.ts';
import { parseSignature } from '../../../solidity/parse-signature.ts';
import type { SignatureImport } from '../../../repository/repository.ts';
import { parseJsonBody, type RequestLimits } from '../../bodies/request-limits.ts';
import { validateBody } from '../../bodies/validate-body.ts';

/** Largest body of an import, in bytes; clients do not send larger ones. */
export const IMPORT_BYTES = 102_400;
/** Most signatures of one import. */
const MAX_IMPORTED = 5_000;

const texts = z
  .array(z.string('text is expected'), 'a list of signatures is expected')
  .max(MAX_IMPORTED, `at most ${MAX_IMPORTED} signatures are expected`)
  .default([])
  .describe('Canonical signatures, such as transfer(address,uint256)');

/** The body of POST /signature-database/v1/import. */
export const importBodySchema = z
  .object({ function: texts, event: texts })
  .meta({ id: 'SignatureImportRequest', description: 'Signatures to import' });

/** An import read from a body: signatures with their hashes, and invalid signatures. */
export interface ParsedSignatureImport {
  readonly accepted: SignatureImport;
  readonly invalid: Readonly<Record<'function' | 'event', readonly string[]>>;
}

/**
 * Reads the body of an import and hashes its signatures.
 * @throws FullmatchError invalid_json, invalid_parameter
 */
export function readImportBody(bytes: Uint8Array, limits: RequestLimits): ParsedSignatureImport {
  const given = validateBody(importBodySchema, parseJsonBody(bytes, limits));
  const [functions, events] = [sort(given.function), sort(given.event)];
  return {
    accepted: { function: functions.valid, event: events.valid, error: [] },
    invalid: { function: functions.invalid, event: events.invalid },
  };
}

function sort(given: readonly string[]) {
  const distinct = [...new Set(given)];
  const isValid = (text: string): boolean => parseSignature(text) !== undefined;
  return {
    valid: distinct.filter(isValid).map((signature) => ({
      signature,
      hash: bytesToHex(keccak256(Buffer.from(signature))),
    })),
    invalid: distinct.filter((text) => !isValid(text)),
  };
}
