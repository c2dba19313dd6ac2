import { hashMetadata } from '../bytecode/metadata-hash.ts';
import {
  METADATA_HASH_BYTES,
  type MetadataHashKind,
  readTrailingAuxdata,
} from '../bytecode/auxdata.ts';
import { parseJson } from '../lib/parse-json.ts';

interface HashAtEnd {
  readonly kind: MetadataHashKind;
  readonly hash: Uint8Array;
}

function hashAtEndOf(code: Uint8Array): HashAtEnd | undefined {
  const auxdata = readTrailingAuxdata(code);
  if (auxdata?.metadataHash === undefined) return undefined;
  const { kind, offset } = auxdata.metadataHash;
  const at = auxdata.offset + offset;
  return { kind, hash: code.subarray(at, at + METADATA_HASH_BYTES) };
}

/** Whether the hash at the end of a bytecode is that of the metadata; undefined if the bytecode has none. */
export function containsHashOf(code: Uint8Array, metadata: string): boolean | undefined {
  const found = hashAtEndOf(code);
  return found && Buffer.compare(found.hash, hashMetadata(found.kind, metadata)) === 0;
}

/** Whether two bytecodes end in the same metadata hash. */
export function haveSameMetadataHash(left: Uint8Array, right: Uint8Array): boolean {
  const [first, second] = [hashAtEndOf(left), hashAtEndOf(right)];
  if (first === undefined || second === undefined) return false;
  return first.kind === second.kind && Buffer.compare(first.hash, second.hash) === 0;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\s+/g;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|.)/g;
const FIRST_BEYOND_ASCII = 0x80;

/** Removes whitespace from JSON, as compilers write it; nothing else changes. */
const compact = (json: string): string =>
  json.replace(TOKEN, (token) => (token.startsWith('"') ? token : ''));

/** Unescapes non-ASCII characters. */
const unescape = (json: string): string =>
  json.replace(ESCAPE, (escape, digits: string | undefined) => {
    const code = Number.parseInt(digits ?? '0', 16);
    return code >= FIRST_BEYOND_ASCII ? String.fromCharCode(code) : escape;
  });

/**
 * Restores the metadata of a compiler from text that another writer spaced and escaped: the variant whose
 * hash the recompiled bytecode contains, or else the most likely one.
 */
export function restoreMetadata(text: string, recompiled: Uint8Array | null): string {
  // Text that is not JSON is refused when it is read; an open string in it would take TOKEN quadratic time.
  if (parseJson(text) === undefined) return text;
  const spaced = compact(text);
  const candidates = [text, unescape(spaced), spaced];
  const proven =
    recompiled === null ? undefined : candidates.find((each) => containsHashOf(recompiled, each));
  return proven ?? unescape(spaced);
}
