/** 2,509 records of about 430 bytes: the size of the public chain list in early 2026. */
export function syntheticChains(): Buffer {
  const records = Array.from({ length: 2_509 }, (_, index) => ({
    name: `Synthetic Chain ${index}`,
    chain: 'SYN',
    network: index % 3 === 0 ? 'testnet' : 'mainnet',
    rpc: [`https://rpc-${index}.example.org`, `https://node.example.net/v1/chain/${index * 7919}`],
    faucets: [],
    nativeCurrency: { name: 'Synthetic Coin', symbol: 'SYN', decimals: 18 },
    infoURL: `https://chain-${index}.example.org`,
    shortName: `syn${index}`,
    chainId: index + 1,
    networkId: index + 1,
    explorers: [
      { name: 'explorer', url: `https://scan-${index}.example.org`, standard: 'EIP3091' },
    ],
    supported: index % 5 === 0,
    monitored: false,
  }));
  return Buffer.from(JSON.stringify(records));
}
