import { z } from '@hono/zod-openapi';

import { describeAddressFault, type Hex } from '../lib/hex.ts';
import { describeChainIdFault } from './chain-id-fault.ts';

/** Chain id parameter: canonical decimal digits. */
export const chainIdParameter = z
  .string()
  .superRefine((text, context) => {
    const message = describeChainIdFault(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .transform(Number)
  .openapi({ param: { description: 'Chain id in decimal digits' }, example: '1' });

/** Address parameter: all letters in one case, or with a valid checksum (EIP-55). */
export const addressParameter = z
  .string()
  .superRefine((text, context) => {
    const message = describeAddressFault(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .transform((address) => address.toLowerCase() as Hex)
  .openapi({
    param: { description: 'Address; if it is in mixed case, its checksum (EIP-55) is checked' },
    example: '0x00000000219ab540356cBB839Cbe05303d7705Fa',
  });

/** Path parameters that identify a contract. */
export const contractParameters = z.object({
  chainId: chainIdParameter,
  address: addressParameter,
});
