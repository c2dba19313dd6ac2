import { hashMetadata } from '../bytecode/metadata-hash.ts';
import { METADATA_HASH_BYTES, readTrailingAuxdata } from '../bytecode/auxdata.ts';

/** Whether the hash at the end of a code is the one of the metadata; undefined where the code has none. */
export function holdsHashOf(code: Uint8Array, metadata: string): boolean | undefined {
  const auxdata = readTrailingAuxdata(code);
  if (auxdata?.metadataHash === undefined) return undefined;
  const { kind, offset } = auxdata.metadataHash;
  const at = auxdata.offset + offset;
  const held = code.subarray(at, at + METADATA_HASH_BYTES);
  return Buffer.compare(held, hashMetadata(kind, metadata)) === 0;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\s+/g;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|.)/g;
const FIRST_BEYOND_ASCII = 0x80;

/** JSON without spaces, as compilers write it; nothing else changes. */
const compact = (json: string): string =>
  json.replace(TOKEN, (token) => (token.startsWith('"') ? token : ''));

/** Characters in place of the escapes of what is beyond ASCII. */
const unescape = (json: string): string =>
  json.replace(ESCAPE, (escape, digits: string | undefined) => {
    const code = Number.parseInt(digits ?? '0', 16);
    return code >= FIRST_BEYOND_ASCII ? String.fromCharCode(code) : escape;
  });

/**
 * The metadata that a compiler wrote, from a text that was spaced and escaped by another writer: the one whose hash the
 * recompiled code holds. Where none is it, the likeliest.
 */
export function restoreMetadata(text: string, recompiled: Uint8Array | null): string {
  const spaced = compact(text);
  const candidates = [text, unescape(spaced), spaced];
  const proven =
    recompiled === null ? undefined : candidates.find((each) => holdsHashOf(recompiled, each));
  return proven ?? unescape(spaced);
}
