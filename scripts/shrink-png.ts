import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE_BYTES = 8;
/** Length, type and checksum of a chunk (PNG, second edition, 5.3). */
const FRAME_BYTES = 12;

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const bytes = Buffer.alloc(data.byteLength + FRAME_BYTES);
  bytes.writeUInt32BE(data.byteLength, 0);
  typed.copy(bytes, 4);
  bytes.writeUInt32BE(crc32(typed), bytes.byteLength - 4);
  return bytes;
}

/** The same picture with its pixels deflated as far as they go: browsers deflate for speed. */
export function shrinkPng(png: Buffer): Buffer {
  const chunks: Buffer[] = [png.subarray(0, SIGNATURE_BYTES)];
  const pixels: Buffer[] = [];
  for (let at = SIGNATURE_BYTES; at < png.byteLength;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const whole = png.subarray(at, at + length + FRAME_BYTES);
    if (type === 'IDAT') pixels.push(whole.subarray(8, 8 + length));
    else if (type === 'IEND') {
      const packed = deflateSync(inflateSync(Buffer.concat(pixels)), { level: 9, memLevel: 9 });
      chunks.push(chunk('IDAT', packed), whole);
    } else chunks.push(whole);
    at += length + FRAME_BYTES;
  }
  return Buffer.concat(chunks);
}
