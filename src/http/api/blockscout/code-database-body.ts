import { z } from 'zod';

import { type Hex } from '../../../lib/hex.ts';
import { type SearchedCode } from '../../../verification/known-codes/search-known-code.ts';
import { parseJsonBody, type RequestLimits } from '../../bodies/request-limits.ts';
import { validateBody } from '../../bodies/validate-body.ts';
import { addressOrZero, bytecodeType, code } from './verifier-request.ts';

/** Largest request body of the bytecode database, in bytes. */
export const SEARCH_BYTES = 1_048_576;
const MAX_SELECTORS = 100;
const HASH_EXPECTED = '0x and 64 hexadecimal digits are expected';

const place = {
  chain: z.string('the id of a chain is expected as text').nullish(),
  address: z.string('an address is expected').nullish(),
};
const codeBody = z.looseObject({ bytecode: code, bytecodeType, ...place });
const placeBody = z.looseObject(place);
const hash = z
  .string(HASH_EXPECTED)
  .regex(/^(?:0x)?[0-9a-fA-F]{64}$/, HASH_EXPECTED)
  .transform((text): Hex => `0x${text.replace(/^0x/, '').toLowerCase()}`);
const oneSelector = z.looseObject({ selector: hash });
const manySelectors = z.looseObject({
  selectors: z
    .array(hash, 'a list of hashes is expected')
    .max(MAX_SELECTORS, `at most ${MAX_SELECTORS} hashes are expected`),
});

/** Bytecode with the contract's address and chain if they are known, or the address and chain alone. */
export type BytecodeSearch = SearchedCode;

/**
 * Reads the body of a search.
 * @param hasCode whether the search is by bytecode rather than by address alone
 * @throws FullmatchError invalid_json, invalid_parameter
 */
export function readBytecodeSearch(
  bytes: Uint8Array,
  limits: RequestLimits,
  hasCode: boolean,
): BytecodeSearch {
  const body = parseJsonBody(bytes, limits);
  const { chain, address } = validateBody(placeBody, body);
  const chainId = /^[1-9][0-9]{0,15}$/.test(chain ?? '') ? Number(chain) : undefined;
  const placed = {
    address: addressOrZero(address ?? ''),
    ...(chainId !== undefined && Number.isSafeInteger(chainId) && { chainId }),
  };
  if (!hasCode) return placed;
  const { bytecode, bytecodeType: type } = validateBody(codeBody, body);
  return type === 'CREATION_INPUT'
    ? { ...placed, creationCode: bytecode }
    : { ...placed, runtimeCode: bytecode };
}

/**
 * Reads the event hashes of a body, one or several.
 * @throws FullmatchError invalid_json, invalid_parameter
 */
export function readSelectors(
  bytes: Uint8Array,
  limits: RequestLimits,
  isBatch: boolean,
): readonly Hex[] {
  const body = parseJsonBody(bytes, limits);
  if (isBatch) return validateBody(manySelectors, body).selectors;
  return [validateBody(oneSelector, body).selector];
}
