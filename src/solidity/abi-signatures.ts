import { bytesToHex, type Hex } from '../lib/hex.ts';
import { keccak256 } from '../lib/keccak.ts';
import { isMembers } from '../lib/members.ts';
import { signatureOf } from './signature-text.ts';

/** A signature as selectors and topics are made of it. */
export interface AbiSignature {
  /** `transfer(address,uint256)` */
  readonly signature: string;
  /** Its Keccak-256 hash: the first topic of an event. */
  readonly signatureHash32: Hex;
  /** The first four bytes: the selector of a function or an error. */
  readonly signatureHash4: Hex;
}

/** The kinds of entries that have a signature (Contract ABI Specification). */
export type SignatureKind = 'function' | 'event' | 'error';

const SELECTOR_BYTES = 4;

/** The signatures of an ABI by their kinds, each once, in its order. What has no form of an entry is left out. */
export function signaturesOf(
  abi: unknown,
): Readonly<Record<SignatureKind, readonly AbiSignature[]>> {
  const found: Readonly<Record<SignatureKind, Map<string, AbiSignature>>> = {
    ...{ function: new Map(), event: new Map(), error: new Map() },
  };
  for (const entry of Array.isArray(abi) ? (abi as unknown[]) : []) {
    if (!isMembers(entry)) continue;
    const kind = entry['type'] ?? 'function';
    const signature = signatureOf(entry);
    if (signature === undefined) continue;
    if (kind === 'function' || kind === 'event' || kind === 'error') {
      const known = found[kind];
      if (!known.has(signature)) known.set(signature, hashed(signature));
    }
  }
  return {
    function: [...found.function.values()],
    event: [...found.event.values()],
    error: [...found.error.values()],
  };
}

function hashed(signature: string): AbiSignature {
  const hash = keccak256(Buffer.from(signature));
  return {
    signature,
    signatureHash32: bytesToHex(hash),
    signatureHash4: bytesToHex(hash.subarray(0, SELECTOR_BYTES)),
  };
}
