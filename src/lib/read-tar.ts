import { extract, type Extract, type Header } from 'tar-stream';

const MAX_DIGITS = 8;
const SPACE = 0x20;
const PAX = ['pax-header', 'pax-global-header'];

/** An entry of an archive whose bytes are streamed. */
export interface TarEntry extends AsyncIterable<Buffer> {
  readonly header: Header;
  /** Skips its bytes. */
  resume(): unknown;
}

/** Internals of the library: the current header, and the step that decodes long headers. */
interface Inside {
  readonly _header: { readonly type: string };
  _decodeLongHeader(bytes: Uint8Array): void;
}

/**
 * Creates a reader of tar archives that rejects PAX records without a positive length (POSIX, pax Interchange
 * Format): tar-stream 3.2 loops forever on a negative length.
 */
export function readTar(): Extract {
  const archive = extract();
  const inside = archive as unknown as Inside;
  const decode = inside._decodeLongHeader.bind(archive);
  inside._decodeLongHeader = (bytes) => {
    if (PAX.includes(inside._header.type)) requireLengths(bytes);
    decode(bytes);
  };
  return archive;
}

/** @throws Error if a record has no valid length */
function requireLengths({ buffer, byteOffset, byteLength }: Uint8Array): void {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  for (let at = 0; at < bytes.length;) {
    const space = bytes.subarray(at, at + MAX_DIGITS + 1).indexOf(SPACE);
    const digits = bytes.toString('latin1', at, at + Math.max(0, space));
    if (!/^\d+$/.test(digits) || Number(digits) === 0) {
      throw new Error('a header of PAX has a record without its length');
    }
    at += Number(digits);
  }
}
