import { type ContractItem } from './answers.ts';

/** A contract, and the newest event of its match. */
export interface ListedContract {
  readonly key: string;
  /** `stored`, `upgraded`, `withdrawn`. */
  readonly kind: string;
  readonly chainId: number;
  readonly chainName?: string | undefined;
  readonly address: string;
  readonly match: 'full' | 'partial' | null;
  readonly name: string | null;
  readonly language?: string | null;
  readonly compilerVersion?: string | null;
  readonly origin?: string | null;
  readonly trust?: ContractItem['trust'];
  readonly at: string;
}

/** A listed contract as the tables of the pages show it. */
export function listContract(item: ContractItem, chainName?: string): ListedContract {
  const { chainId, address, match, name, origin, verifiedAt } = item;
  const key = `contract ${chainId} ${address}`;
  return { key, kind: 'stored', chainId, chainName, address, match, name, origin, at: verifiedAt };
}
