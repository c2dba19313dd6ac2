import { type Secret } from '../../lib/secret.ts';
import { type ChainRecord } from './chain-record.ts';

/**
 * Origin of a field of a chain record: `list`, `default configuration`, `configuration`, `derived` (from
 * other fields), `service` (a default), or two of them joined by ` + ` if endpoints were appended.
 */
export type FieldOrigin = string;

/** An RPC endpoint that the service may use. */
export interface Endpoint {
  readonly url: Secret;
  /** Safe to publish: the host of a public endpoint, `private-1` and so on for unpublished ones. */
  readonly label: string;
  readonly public: boolean;
}

/** A chain of the registry: its published record, and what only the service knows. */
export interface RegisteredChain {
  readonly record: ChainRecord;
  /** Origin of every field of the record, by name. */
  readonly origins: Readonly<Record<string, FieldOrigin>>;
  /** In order of preference: private endpoints first, then the published ones. */
  readonly endpoints: readonly Endpoint[];
  readonly testnet: boolean;
  /** On the operator's machine or private network. */
  readonly local: boolean;
}
