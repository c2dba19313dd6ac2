/** The currency that pays for transactions. */
export interface NativeCurrency {
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
}

/** An explorer site of a chain. */
export interface Explorer {
  readonly name: string;
  readonly url: string;
  readonly standard: string;
  readonly icon?: string;
}

/**
 * An element of `GET /chains`: the public chain list's fields merged with the service's own four (supported,
 * monitored, contractFetchAddress, txRegex). Unknown fields are absent. Frozen.
 */
export interface ChainRecord {
  readonly name: string;
  readonly chain?: string;
  readonly network?: string;
  readonly icon?: string;
  readonly rpc: readonly string[];
  readonly faucets?: readonly string[];
  readonly nativeCurrency?: NativeCurrency;
  readonly infoURL?: string;
  readonly shortName?: string;
  readonly chainId: number;
  readonly networkId?: number;
  readonly slip44?: number;
  readonly ens?: { readonly registry: string };
  readonly explorers?: readonly Explorer[];
  readonly supported: boolean;
  readonly monitored: boolean;
  readonly contractFetchAddress?: string;
  readonly txRegex?: string;
  readonly title?: string;
  readonly status?: string;
  readonly features?: readonly { readonly name: string }[];
  readonly parent?: Readonly<Record<string, unknown>>;
  readonly redFlags?: readonly string[];
}
