import { FullmatchError } from '../errors.ts';
import { checksumAddress, type Hex } from '../lib/hex.ts';

/** Returns the error for a contract without a match. */
export function contractNotFound(chainId: number, address: Hex): FullmatchError {
  return new FullmatchError(
    'contract_not_found',
    `${checksumAddress(address)} is not verified on chain ${chainId}.`,
    { details: { chainId, address } },
  );
}
