/** 2,509 records of about 430 bytes: the size and the number of the public chain list of early 2026. */
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

/** 374 keys: the number of chains of a large repository of 2026. */
export function syntheticStatistics(): Buffer {
  const entries = Array.from({ length: 374 }, (_, index) => [
    String((index + 1) * 97),
    { full_match: (index * 7_919) % 40_000, partial_match: (index * 104_729) % 900_000 },
  ]);
  return Buffer.from(JSON.stringify(Object.fromEntries(entries)));
}
