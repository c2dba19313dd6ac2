import { z } from '@hono/zod-openapi';

import { type Hex } from '../lib/hex.ts';

const CHAIN_ID = /^[1-9][0-9]{0,15}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** A chain id as a parameter: canonical decimal digits. */
export const chainIdParameter = z
  .string()
  .regex(CHAIN_ID, 'a chain id in decimal digits is expected')
  .refine((digits) => Number.isSafeInteger(Number(digits)), 'a chain id is at most 2^53-1')
  .transform(Number)
  .openapi({ param: { description: 'Chain id in decimal digits' }, example: '1' });

/** An address as a parameter, in any case: a wrong checksum is not held against it, since it only looks up. */
export const addressParameter = z
  .string()
  .regex(ADDRESS, 'an address is expected: 0x and 40 hexadecimal digits')
  .transform((address) => address.toLowerCase() as Hex)
  .openapi({
    param: { description: 'Address, in any case' },
    example: '0x00000000219ab540356cBB839Cbe05303d7705Fa',
  });

/** The path parameters that name a contract. */
export const contractParameters = z.object({
  chainId: chainIdParameter,
  address: addressParameter,
});
