import { promisify } from 'node:util';
import { crc32, deflate, inflateRawSync } from 'node:zlib';
import { GLYPHS } from './glyphs.ts';

// PNG, third edition (W3C): 5.3 chunks, 11.2.2 the palette. Social networks do not accept SVG.
const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const INDEXED = 3;
const compress = promisify(deflate);

const WIDTH = 1200;
const HEIGHT = 630;
const MARGIN = 80;
/** Left edge of the text next to the mark. */
const TEXT_LEFT = 330;
const TEXT_WIDTH = WIDTH - TEXT_LEFT - MARGIN;
/** Tops of the text lines next to the mark, in pixels. */
const TITLE_TOP = 190;
const LINES_TOP = 290;
const LINE = 54;

/** Colours of a card: for each, the shades from the background to itself. */
const INKS = {
  text: 0x14171c,
  quiet: 0x4c535d,
  full: 0x0a5c43,
  partial: 0x7c4a00,
  claimed: 0x524b75,
  none: 0x4c535d,
  withdrawn: 0x96190f,
} as const;
type Ink = keyof typeof INKS;
const SHADES = 16;
const GROUND = 0xffffff;

/** Verdict that the mark of a card shows; its shapes are those of the pages. */
export type CardMark = 'full' | 'partial' | 'claimed' | 'none' | 'withdrawn';

/** Content of a card. */
export interface Card {
  readonly mark: CardMark;
  /** Truncated if it is too long. */
  readonly title: string;
  /** At most five; each is truncated if it is too long. */
  readonly lines: readonly { readonly text: string; readonly isMono?: boolean }[];
}

type FontName = keyof typeof GLYPHS;
const [FIRST, LAST] = [32, 126];

interface Font {
  readonly height: number;
  readonly advances: readonly number[];
  /** Two 4-bit levels per byte, row by row for each glyph. */
  readonly levels: Buffer;
  /** Offset of each glyph in the levels. */
  readonly starts: readonly number[];
}

const fonts = new Map<FontName, Font>();

/** Unpacks the glyphs of a font on first use. */
function fontOf(name: FontName): Font {
  const known = fonts.get(name);
  if (known !== undefined) return known;
  const { height, advances, levels } = GLYPHS[name];
  const starts: number[] = [];
  let at = 0;
  for (const advance of advances) {
    starts.push(at);
    at += advance * height;
  }
  const font = { height, advances, starts, levels: inflateRawSync(Buffer.from(levels, 'base64')) };
  fonts.set(name, font);
  return font;
}

/** Draws a card as a PNG of 1200 × 630, about 15 KB. It takes a few milliseconds, mostly on another thread. */
export async function drawCard({ mark, title, lines }: Card): Promise<Buffer<ArrayBuffer>> {
  // Each row starts with a filter byte; zero is no filter.
  const pixels = Buffer.alloc(HEIGHT * (WIDTH + 1));
  drawMark(pixels, 'full', { x: MARGIN + 22, y: 92, radius: 22 });
  drawText(pixels, 'text', 'text', { x: MARGIN + 60, y: 68 }, 'Fullmatch');
  drawMark(pixels, mark, { x: MARGIN + 90, y: 300, radius: 90 });
  drawText(pixels, 'title', 'text', { x: TEXT_LEFT, y: TITLE_TOP }, cut('title', title));
  for (const [index, { text, isMono = false }] of lines.slice(0, 5).entries()) {
    const font = isMono ? 'mono' : 'text';
    const ink = index === 0 ? mark : 'quiet';
    const place = { x: TEXT_LEFT, y: LINES_TOP + index * LINE + (isMono ? 6 : 0) };
    drawText(pixels, font, ink, place, cut(font, text));
  }
  return encode(pixels);
}

const shadeOf = (ink: Ink, level: number): number =>
  level === 0 ? 0 : Object.keys(INKS).indexOf(ink) * SHADES + level;

/** Maps text to the available glyphs: drops accents, and replaces characters without a glyph with a question mark. */
const spell = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\u0020-\u007e]/gu, '?');

/** Truncates a text to the width next to the mark. */
function cut(name: FontName, text: string): string {
  const { advances } = fontOf(name);
  const widthOf = (part: string): number =>
    Buffer.from(part, 'latin1').reduce((sum, code) => sum + (advances[code - FIRST] ?? 0), 0);
  const spelled = spell(text.slice(0, 200));
  if (widthOf(spelled) <= TEXT_WIDTH) return spelled;
  let end = spelled.length;
  while (end > 0 && widthOf(`${spelled.slice(0, end)}...`) > TEXT_WIDTH) end -= 1;
  return `${spelled.slice(0, end)}...`;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

function drawText(pixels: Buffer, name: FontName, ink: Ink, { x, y }: Place, text: string): void {
  const { height, advances, levels, starts } = fontOf(name);
  let left = x;
  for (const letter of text) {
    const code = letter.charCodeAt(0);
    if (code < FIRST || code > LAST) continue;
    const width = advances[code - FIRST] ?? 0;
    const start = starts[code - FIRST] ?? 0;
    for (let row = 0; row < height; row += 1) {
      for (let column = 0; column < width; column += 1) {
        const at = start + row * width + column;
        const pair = levels[at >> 1] ?? 0;
        const level = at % 2 === 0 ? pair >> 4 : pair & 15;
        if (level > 0) pixels[indexOf(left + column, y + row)] = shadeOf(ink, level);
      }
    }
    left += width;
  }
}

const indexOf = (x: number, y: number): number => y * (WIDTH + 1) + 1 + x;

/** The shapes of src/lib/ring-shapes.ts as areas, since a card is drawn pixel by pixel; fractions of the radius. */
const RING = { outer: 1, inner: 0.74, dot: 0.53, dashes: 12, strike: 0.13 };

function drawMark(
  pixels: Buffer,
  mark: CardMark,
  { x, y, radius }: Place & { readonly radius: number },
): void {
  // Coverage of a pixel by a circle: the edge is one pixel wide.
  const within = (distance: number, part: number): number =>
    Math.min(1, Math.max(0, part * radius - distance + 0.5));
  for (let row = -radius - 1; row <= radius + 1; row += 1) {
    for (let column = -radius - 1; column <= radius + 1; column += 1) {
      const distance = Math.hypot(row, column);
      const turn = (Math.atan2(row, column) / (2 * Math.PI) + 1) * RING.dashes;
      const isDash = mark !== 'claimed' || turn % 1 < 0.55;
      let share = isDash ? within(distance, RING.outer) - within(distance, RING.inner) : 0;
      if (mark === 'full') share += within(distance, RING.dot);
      if (mark === 'partial' && column < 0) share += within(distance, RING.inner);
      // From the lower left to the upper right.
      if (mark === 'withdrawn' && distance < RING.inner * radius) {
        share += within(Math.abs(row + column) / Math.SQRT2, RING.strike);
      }
      const level = Math.round(Math.min(1, share) * (SHADES - 1));
      if (level > 0) pixels[indexOf(x + column, y + row)] = shadeOf(mark, level);
    }
  }
}

/** From the background to each ink, in equal steps. */
const PALETTE = Buffer.from(
  Object.values(INKS).flatMap((ink) =>
    Array.from({ length: SHADES }, (_, level) =>
      [16, 8, 0].map((shift) => {
        const [from, to] = [(GROUND >> shift) & 255, (ink >> shift) & 255];
        return Math.round(from + ((to - from) * level) / (SHADES - 1));
      }),
    ).flat(),
  ),
);

async function encode(pixels: Buffer): Promise<Buffer<ArrayBuffer>> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.set([8, INDEXED], 8);
  const parts = [
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', PALETTE),
    chunk('IDAT', await compress(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat(parts);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(data.byteLength + 12);
  bytes.writeUInt32BE(data.byteLength, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  const end = bytes.byteLength - 4;
  bytes.writeUInt32BE(crc32(bytes.subarray(4, end)), end);
  return bytes;
}
