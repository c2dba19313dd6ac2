import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { type StandardJsonInput } from '../solidity/standard-json.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { type Hex } from '../lib/hex.ts';

/** A compilation whose input is given whole. */
export interface StandardJsonCompilation {
  readonly kind: 'standard_json';
  readonly input: StandardJsonInput;
  /** With or without `v` and the commit. */
  readonly compilerVersion: string;
  /** `path:Name`; the path may hold colons. Absent where the code on chain is to say which contract it is. */
  readonly contractIdentifier?: string;
}

/** A compilation that the metadata describes: what is given is the metadata document and the sources that it names. */
export interface MetadataCompilation {
  readonly kind: 'metadata';
  /** The parsed metadata.json. */
  readonly metadata: unknown;
  /** Path → content; a source under another path is found by its hash. */
  readonly sources: Readonly<Record<string, string>>;
}

/** A contract on chain that is to be verified. */
export interface Deployment {
  readonly chainId: number;
  /** Lower-case hex. */
  readonly address: Hex;
  /** Lower-case hex. Counts only when this transaction created the address. */
  readonly creationTransactionHash?: Hex;
}

/** What somebody asks to verify: a deployment, and the compilation that is said to be it. */
export interface VerificationRequest extends Deployment {
  /** The encoded arguments of the constructor, in lower-case hex, by the word of the client: another fact to compare. */
  readonly constructorArguments?: Hex;
  readonly compilation: StandardJsonCompilation | MetadataCompilation;
  /** Where the monitor found the sources itself; no client can say so. */
  readonly origin?: 'monitored';
}

/** What asks whether any stored compilation gives the code of a contract: no sources come with it. */
export interface SimilarityRequest extends Deployment {
  readonly compilation: { readonly kind: 'stored' };
}

/** A request as it lies in the queue. It holds no part of the body that it came in. */
export interface PackedRequest {
  readonly chainId: number;
  /** Lower-case hex. */
  readonly address: Hex;
  /** The creation transaction that the request names, in lower-case hex. */
  readonly creationTransactionHash?: Hex;
  /** Deflated JSON with sorted keys. */
  readonly packed: Uint8Array<ArrayBuffer>;
  /** The SHA-256 hash of that JSON: requests with one hash ask the same. */
  readonly inputHash: Uint8Array;
}

/** Source text shrinks to a fifth at the fastest level already. */
const DEFLATE_LEVEL = 1;

/** Packs a request, which takes a second for the largest: not on the thread that serves. */
export function packRequest(request: VerificationRequest | SimilarityRequest): PackedRequest {
  const json = canonicalJson(request);
  // In memory of its own, so that a thread can hand it over.
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
