import { z } from 'zod';

import { parseJsonText, parseJsonBody, type RequestLimits } from '../../bodies/request-limits.ts';
import { validateBody } from '../../bodies/validate-body.ts';
import { namedValues } from '../../named-values.ts';
import {
  type MethodLocation,
  locateMethods,
} from '../../../verification/submitted-codes/locate-methods.ts';

/** Largest body of a method lookup, in bytes. */
export const METHODS_BYTES = 2_097_152;
/** Twice the largest bytecode that any known chain accepts in a deployment, in characters. */
const MAX_CODE_CHARACTERS = 262_146;
const CODE_EXPECTED = 'hexadecimal digits in pairs are expected';

const body = z.looseObject({
  bytecode: z
    .string(CODE_EXPECTED)
    .max(MAX_CODE_CHARACTERS, `at most ${MAX_CODE_CHARACTERS} characters are expected`)
    .regex(/^(?:0x)?(?:[0-9a-fA-F]{2})*$/, CODE_EXPECTED),
  abi: z.string('the ABI as JSON text is expected'),
  sourceMap: z.string('a source map is expected'),
  fileIds: namedValues(z.string('the name of a file is expected')),
});

/**
 * Reads a method lookup and returns the source locations of the methods by selector.
 * @throws FullmatchError invalid_json, invalid_parameter, request_too_many_values
 */
export function lookUpMethods(
  bytes: Uint8Array,
  limits: RequestLimits,
): Readonly<Record<string, MethodLocation>> {
  const fields = validateBody(body, parseJsonBody(bytes, limits));
  const abi = parseJsonText(fields.abi, limits, 'The member abi');
  return locateMethods({
    code: Buffer.from(fields.bytecode.replace(/^0x/, ''), 'hex'),
    abi,
    sourceMap: fields.sourceMap,
    nameFile: (id) => fields.fileIds[String(id)],
  });
}
