import { type Secret } from '../../lib/secret.ts';
import { type ChainRecord } from './chain-record.ts';

/**
 * Where a field of a chain record comes from: `list`, `default configuration`, `configuration`, `derived` (from other
 * fields), `service` (nothing said anything), or two of them joined by ` + ` where endpoints were appended.
 */
export type FieldOrigin = string;

/** An RPC endpoint that the service may ask. */
export interface Endpoint {
  readonly url: Secret;
  /** May be shown to anyone: the host of a public endpoint, `private-1` and so on for one that is not published. */
  readonly label: string;
  readonly public: boolean;
}

/** A chain of the registry: what is published of it, and what only the service knows. */
export interface RegisteredChain {
  readonly record: ChainRecord;
  /** The origin of every field of the record, by its name. */
  readonly origins: Readonly<Record<string, FieldOrigin>>;
  /** In the order of preference: private endpoints first, then the published ones. */
  readonly endpoints: readonly Endpoint[];
  readonly testnet: boolean;
  /** On the operator's machine or private network. */
  readonly local: boolean;
}
