import { type ServiceChain } from './service-chain.ts';

/** Explorers of the Etherscan family show the creation transaction on a contract's page. */
const ETHERSCAN_TX_REGEX = "at txn\\s+<a href='\\/tx\\/(.*?)'";

function etherscanPage(host: string): Pick<ServiceChain, 'contractFetchAddress' | 'txRegex'> {
  return {
    contractFetchAddress: `https://${host}/address/\${ADDRESS}`,
    txRegex: ETHERSCAN_TX_REGEX,
  };
}

function toMap(chains: readonly ServiceChain[]): ReadonlyMap<number, ServiceChain> {
  return new Map(chains.map((chain) => [chain.chainId, chain]));
}

/**
 * The service configuration that ships with the project: the best-known chains, supported, with the public
 * endpoints of the chain list. It sets no field of the list, so a newer list takes effect, and it applies
 * only to chains that are in the current list or that the operator configured. Explorer pages are listed if
 * one is known to have worked.
 */
export const defaultServiceChains: ReadonlyMap<number, ServiceChain> = toMap(
  [
    { chainId: 1, ...etherscanPage('etherscan.io') },
    { chainId: 10, ...etherscanPage('optimistic.etherscan.io') },
    { chainId: 56, ...etherscanPage('bscscan.com') },
    { chainId: 97, ...etherscanPage('testnet.bscscan.com') },
    { chainId: 100 },
    { chainId: 137, ...etherscanPage('polygonscan.com') },
    { chainId: 250 },
    { chainId: 324 },
    { chainId: 1101 },
    { chainId: 5000 },
    { chainId: 8453 },
    { chainId: 17000 },
    { chainId: 42161, ...etherscanPage('arbiscan.io') },
    { chainId: 42220 },
    { chainId: 43113 },
    { chainId: 43114 },
    { chainId: 59144 },
    { chainId: 80002 },
    { chainId: 81457 },
    { chainId: 84532 },
    { chainId: 421614 },
    { chainId: 534352 },
    { chainId: 11155111, ...etherscanPage('sepolia.etherscan.io') },
    { chainId: 11155420 },
  ].map((chain) => ({ ...chain, supported: true })),
);

function localChain(
  fields: Required<Pick<ServiceChain, 'chainId' | 'title' | 'rpc'>>,
): ServiceChain {
  return {
    ...fields,
    name: `Local Chain ${fields.chainId}`,
    chain: 'ETH',
    network: 'testnet',
    shortName: `local-${fields.chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    networkId: fields.chainId,
    local: true,
    supported: true,
  };
}

/** Local development chains. When enabled they replace the list's records of these ids. */
export const localServiceChains: ReadonlyMap<number, ServiceChain> = toMap([
  localChain({
    chainId: 1337,
    title: 'Geth or Ganache on this machine',
    rpc: ['http://127.0.0.1:8545', 'http://127.0.0.1:7545'],
  }),
  localChain({
    chainId: 31337,
    title: 'Hardhat or Anvil on this machine',
    rpc: ['http://127.0.0.1:8545'],
  }),
]);

/** The chain of `fullmatch demo`: the letters DEMO in ASCII, an id that no listed chain has. */
export const DEMONSTRATION_CHAIN_ID = 0x44_45_4d_4f;

/** Display name of the demo chain, which exists while it has contracts. */
export const demonstrationChain: ServiceChain = {
  chainId: DEMONSTRATION_CHAIN_ID,
  name: 'Demonstration (no real chain)',
  title: 'Contracts that fullmatch demo deployed on a local development node',
  chain: 'DEMO',
  network: 'testnet',
  shortName: 'demonstration',
  nativeCurrency: { name: 'Demonstration Ether', symbol: 'DEMO', decimals: 18 },
  networkId: DEMONSTRATION_CHAIN_ID,
  supported: false,
};
