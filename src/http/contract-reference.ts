import { type Hex } from '../lib/hex.ts';

/** Chain and address of a contract. */
export interface ContractReference {
  readonly chainId: number;
  readonly address: Hex;
}
