import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { type StandardJsonInput } from '../solidity/standard-json.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { type Hex } from '../lib/hex.ts';

/** A compilation with a complete input. */
export interface StandardJsonCompilation {
  readonly kind: 'standard_json';
  readonly input: StandardJsonInput;
  /** With or without `v` and the commit. */
  readonly compilerVersion: string;
  /** `path:Name`; the path may contain colons. Absent if the bytecode on chain has to identify the contract. */
  readonly contractIdentifier?: string;
  /**
   * Whether the metadata setting is taken from the bytecode, and other common settings are tried if the sources do
   * not match with these. Those that match are used.
   */
  readonly trySettings?: boolean;
}

/** A compilation given by a metadata document and the sources that it lists. */
export interface MetadataCompilation {
  readonly kind: 'metadata';
  /** The parsed metadata.json. */
  readonly metadata: unknown;
  /** Path -> content; a source under another path is found by its hash. */
  readonly sources: Readonly<Record<string, string>>;
}

/** A contract on chain to be verified. */
export interface Deployment {
  readonly chainId: number;
  /** Lower-case hex. */
  readonly address: Hex;
  /** Lower-case hex. Ignored unless this transaction created the contract. */
  readonly creationTransactionHash?: Hex;
}

/** A request to verify a deployment against a compilation. */
export interface VerificationRequest extends Deployment {
  /**
   * The ABI-encoded constructor arguments in lower-case hex, as claimed by the client; compared in addition
   * to the bytecode.
   */
  readonly constructorArguments?: Hex;
  readonly compilation: StandardJsonCompilation | MetadataCompilation;
  /** Set if the monitor found the sources itself; clients cannot set it. */
  readonly origin?: 'monitored';
}

/** A request to verify a contract with stored compilations, without sources. */
export interface SimilarityRequest extends Deployment {
  readonly compilation: { readonly kind: 'stored' };
}

/** A request in its queued form. It shares no memory with the request body. */
export interface PackedRequest {
  readonly chainId: number;
  /** Lower-case hex. */
  readonly address: Hex;
  /** The creation transaction that the request names, in lower-case hex. */
  readonly creationTransactionHash?: Hex;
  /** Deflated JSON with sorted keys. */
  readonly packed: Uint8Array<ArrayBuffer>;
  /** The SHA-256 hash of that JSON; equal for identical requests. */
  readonly inputHash: Uint8Array;
}

/** The fastest level already reduces source text to a fifth. */
const DEFLATE_LEVEL = 1;

/** Packs a request. The largest take a second, so do not call it on the main thread. */
export function packRequest(request: VerificationRequest | SimilarityRequest): PackedRequest {
  const json = canonicalJson(request);
  // Copied to memory of its own, so that a thread can transfer it.
  const packed = new Uint8Array(deflateSync(json, { level: DEFLATE_LEVEL }));
  const inputHash = createHash('sha256').update(json).digest();
  const { chainId, address, creationTransactionHash } = request;
  return {
    chainId,
    address,
    ...(creationTransactionHash !== undefined && { creationTransactionHash }),
    packed,
    inputHash,
  };
}
