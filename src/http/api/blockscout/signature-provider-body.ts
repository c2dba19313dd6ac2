import { z } from 'zod';

import { FullmatchError } from '../../../errors.ts';
import { type AbiSignature, signaturesOf } from '../../../solidity/abi-signatures.ts';
import { parseSignature } from '../../../solidity/parse-signature.ts';
import type { LogEntry, SignatureImport } from '../../../repository/repository.ts';
import { parseJsonText, parseJsonBody, type RequestLimits } from '../../bodies/request-limits.ts';
import { validateBody } from '../../bodies/validate-body.ts';

/** Largest request body of the signature provider, in bytes. */
export const PROVIDER_BYTES = 1_048_576;
const MAX_ENTRIES = 5_000;
const MAX_LOGS = 500;
const MAX_TOPICS = 4;
const TOPIC_DIGITS = 64;
const MAX_DATA_CHARACTERS = 262_146;
const DATA_EXPECTED = 'hexadecimal digits in pairs are expected, for at most 131,072 bytes';
const TOPICS_EXPECTED = `hashes of ${TOPIC_DIGITS} hexadecimal digits are expected, from 1 to ${MAX_TOPICS}, with commas between them`;

const abiBody = z.looseObject({ abi: z.string('the ABI as JSON text is expected') });

/** Hexadecimal bytes, with or without 0x. */
export const hexData = z
  .string(DATA_EXPECTED)
  .max(MAX_DATA_CHARACTERS, DATA_EXPECTED)
  .regex(/^(?:0x)?(?:[0-9a-fA-F]{2})*$/, DATA_EXPECTED)
  .transform((text) => Buffer.from(text.replace(/^0x/, ''), 'hex'));

/** A log entry in the signature provider's format. */
export const logEntry = z.looseObject({
  data: hexData,
  topics: z
    .string(TOPICS_EXPECTED)
    .max(MAX_TOPICS * (TOPIC_DIGITS + 3), TOPICS_EXPECTED)
    .transform((text) => text.split(',').map((topic) => topic.trim().replace(/^0x/, '')))
    .refine(
      (topics) =>
        topics.length <= MAX_TOPICS && topics.every((topic) => /^[0-9a-fA-F]{64}$/.test(topic)),
      TOPICS_EXPECTED,
    )
    .transform((topics) => topics.map((topic) => Buffer.from(topic, 'hex'))),
});
const eventsBody = z.looseObject({
  requests: z
    .array(logEntry, 'a list of data and topics is expected')
    .max(MAX_LOGS, `at most ${MAX_LOGS} entries are expected`),
});

/**
 * Reads the signatures of an ABI to import.
 * @throws FullmatchError invalid_json, invalid_parameter, request_too_many_values
 */
export function readAbiBody(bytes: Uint8Array, limits: RequestLimits): SignatureImport {
  const { abi } = validateBody(abiBody, parseJsonBody(bytes, limits));
  const entries = parseJsonText(abi, limits, 'The member abi');
  if (!Array.isArray(entries)) {
    throw new FullmatchError('invalid_parameter', 'abi: a list of entries is expected.');
  }
  const found = signaturesOf(entries.slice(0, MAX_ENTRIES));
  const canonical = (signatures: readonly AbiSignature[]) =>
    signatures
      .filter(({ signature }) => parseSignature(signature) !== undefined)
      .map(({ signature, signatureHash32: hash }) => ({ signature, hash }));
  return {
    function: canonical(found.function),
    event: canonical(found.event),
    error: canonical(found.error),
  };
}

/**
 * Reads the log entries of a body.
 * @throws FullmatchError invalid_json, invalid_parameter
 */
export function readEventsBody(bytes: Uint8Array, limits: RequestLimits): readonly LogEntry[] {
  return validateBody(eventsBody, parseJsonBody(bytes, limits)).requests;
}
