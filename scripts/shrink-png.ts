import { crc32, deflateSync, inflateSync } from 'node:zlib';

// The format is PNG, third edition (W3C): 5.3 chunks, 9.2 filters, 11.2.2 the palette.
const SIGNATURE_BYTES = 8;
/** Length, type and checksum of a chunk. */
const FRAME_BYTES = 12;
const COLOURS = 256;
/** The upper five bits of each channel. */
const ALIKE = 0xf8f8f8;
const INDEXED = 3;

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel. */
  readonly pixels: Uint8Array;
}

/** Reduces a picture to at most 256 colours: a page has few, plus many shades of them at letter edges. */
export function shrinkPng(png: Buffer): Buffer {
  const { width, height, pixels } = readPng(png);
  const counts = new Map<number, number>();
  for (let at = 0; at < pixels.length; at += 3) {
    const colour = colourAt(pixels, at);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = choosePalette(counts);
  const indexes = new Map<number, number>();
  for (const colour of counts.keys()) indexes.set(colour, nearest(palette, colour));

  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      rows[y * (width + 1) + 1 + x] = indexes.get(colourAt(pixels, (y * width + x) * 3)) ?? 0;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, INDEXED], 8);
  return Buffer.concat([
    png.subarray(0, SIGNATURE_BYTES),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap((colour) => [...partsOf(colour)]))),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Keeps the most frequent of indistinguishable colours, which leaves room for the colours of small marks. */
function choosePalette(counts: ReadonlyMap<number, number>): readonly number[] {
  const chosen = new Map<number, number>();
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  for (const [colour] of sorted) {
    const kind = colour & ALIKE;
    if (!chosen.has(kind)) chosen.set(kind, colour);
  }
  return [...chosen.values()].slice(0, COLOURS);
}

const colourAt = (pixels: Uint8Array, at: number): number =>
  ((pixels[at] ?? 0) << 16) | ((pixels[at + 1] ?? 0) << 8) | (pixels[at + 2] ?? 0);

const partsOf = (colour: number) => [colour >> 16, (colour >> 8) & 255, colour & 255] as const;

/** The index of the colour with the least squared distance. */
function nearest(palette: readonly number[], colour: number): number {
  const [red, green, blue] = partsOf(colour);
  const distances = palette.map((other) => {
    const [otherRed, otherGreen, otherBlue] = partsOf(other);
    return (red - otherRed) ** 2 + (green - otherGreen) ** 2 + (blue - otherBlue) ** 2;
  });
  return distances.indexOf(Math.min(...distances));
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const bytes = Buffer.alloc(data.byteLength + FRAME_BYTES);
  bytes.writeUInt32BE(data.byteLength, 0);
  typed.copy(bytes, 4);
  bytes.writeUInt32BE(crc32(typed), bytes.byteLength - 4);
  return bytes;
}

/** Reads a PNG as browsers write it: eight-bit RGB, not interlaced. */
function readPng(png: Buffer): Picture {
  const parts: Buffer[] = [];
  for (let at = SIGNATURE_BYTES; at < png.byteLength;) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') {
      parts.push(png.subarray(at + 8, at + 8 + length));
    }
    at += length + FRAME_BYTES;
  }
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const filtered = inflateSync(Buffer.concat(parts));
  const row = width * 3;
  if (filtered.length !== height * (row + 1)) throw new Error('Not a PNG with three channels.');
  const pixels = new Uint8Array(height * row);
  for (let y = 0; y < height; y += 1) {
    const filter = filtered[y * (row + 1)] ?? 0;
    for (let x = 0; x < row; x += 1) {
      const at = y * row + x;
      const left = x < 3 ? 0 : (pixels[at - 3] ?? 0);
      const above = pixels[at - row] ?? 0;
      const corner = x < 3 ? 0 : (pixels[at - row - 3] ?? 0);
      pixels[at] = (filtered[at + y + 1] ?? 0) + predict(filter, left, above, corner);
    }
  }
  return { width, height, pixels };
}

/** Predicts a byte from its neighbours with a PNG filter. */
function predict(filter: number, left: number, above: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  if (filter !== 4) return 0;
  const [byLeft, byAbove, byCorner] = [left, above, corner].map((each) =>
    Math.abs(left + above - corner - each),
  ) as [number, number, number];
  if (byLeft <= byAbove && byLeft <= byCorner) return left;
  return byAbove <= byCorner ? above : corner;
}
