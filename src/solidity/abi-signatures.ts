import { bytesToHex, type Hex } from '../lib/hex.ts';
import { keccak256 } from '../lib/keccak.ts';
import { isMembers, type Members } from '../lib/members.ts';
import { signatureOf } from './signature-text.ts';

/** A signature with the hash that selectors and topics come from. */
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

/** Signatures of a contract by kind. */
export type Signatures = Readonly<Record<SignatureKind, readonly AbiSignature[]>>;

/**
 * Returns the signatures of an ABI by kind, without duplicates and in ABI order. Malformed entries are left
 * out.
 * @param methodIdentifiers those of the compiler, if the ABI does not contain the functions' selectors: see
 * {@link ownMethodIdentifiers}
 */
export function signaturesOf(abi: unknown, methodIdentifiers?: unknown): Signatures {
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
    function: isMembers(methodIdentifiers)
      ? readIdentifiers(methodIdentifiers)
      : [...found.function.values()],
    event: [...found.event.values()],
    error: [...found.error.values()],
  };
}

/** Returns the signatures whose hash starts with the selector from the compiler. */
function readIdentifiers(identifiers: Members): readonly AbiSignature[] {
  return Object.entries(identifiers)
    .map(([signature, selector]) => ({ selector, signature: hashed(signature) }))
    .filter(({ selector, signature }) => signature.signatureHash4 === `0x${String(selector)}`)
    .map(({ signature }) => signature);
}

/**
 * Returns the compiler's `methodIdentifiers` if they differ from the selectors of the ABI's functions:
 * selectors of a library contain type names, `add(Pair)`, where its ABI has tuples. Returns undefined if the
 * ABI is sufficient.
 */
export function ownMethodIdentifiers(abi: unknown, identifiers: unknown): Members | undefined {
  if (!isMembers(identifiers)) return undefined;
  const ofAbi = new Set(signaturesOf(abi).function.map(({ signatureHash4 }) => signatureHash4));
  const selectors = Object.values(identifiers).map((selector) => `0x${String(selector)}`);
  const isSame =
    selectors.length === ofAbi.size && selectors.every((selector) => ofAbi.has(selector as Hex));
  return isSame ? undefined : identifiers;
}

function hashed(signature: string): AbiSignature {
  const hash = keccak256(Buffer.from(signature));
  return {
    signature,
    signatureHash32: bytesToHex(hash),
    signatureHash4: bytesToHex(hash.subarray(0, SELECTOR_BYTES)),
  };
}
