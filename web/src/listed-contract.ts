import { type ContractItem, type ListedContract } from './shapes.ts';

/** A contract of a list as the tables of the pages show it. */
export function listContract(item: ContractItem, chainName?: string): ListedContract {
  const { chainId, address, match, name, verifiedAt } = item;
  const key = `contract ${chainId} ${address}`;
  return { key, kind: 'stored', chainId, chainName, address, match, name, at: verifiedAt };
}
