/**
 * Renders the glyphs of the cards once, in a browser: `npx tsx scripts/make-card-glyphs.ts` writes
 * `src/http/api/card/glyphs.ts`. The service can then put text into pictures without a font or a font
 * library.
 */
import { writeFile } from 'node:fs/promises';
import { deflateRawSync } from 'node:zlib';
import { startBrowser } from '../test/support/browser.ts';

/** Font of a card's letters: a CSS font, and the line height in pixels. */
const FONTS = [
  { name: 'title', font: '700 64px sans-serif', height: 80 },
  { name: 'text', font: '400 36px sans-serif', height: 48 },
  { name: 'mono', font: '400 27px monospace', height: 36 },
] as const;
const [FIRST, LAST] = [32, 126];

interface Drawn {
  readonly advances: readonly number[];
  /** Levels from 0 to 15, row by row, of each letter. */
  readonly levels: readonly number[];
}

const browser = await startBrowser();
const page = await browser.newPage();
const drawn: Record<string, { height: number; advances: readonly number[]; levels: string }> = {};
for (const { name, font, height } of FONTS) {
  const script = `(() => {
    const canvas = document.createElement('canvas');
    canvas.width = 200; canvas.height = ${height};
    const context = canvas.getContext('2d', { willReadFrequently: true });
    const advances = [], levels = [];
    for (let code = ${FIRST}; code <= ${LAST}; code += 1) {
      const text = String.fromCharCode(code);
      context.font = '${font}';
      const width = Math.round(context.measureText(text).width);
      context.clearRect(0, 0, 200, ${height});
      context.textBaseline = 'alphabetic';
      context.fillText(text, 0, ${Math.round(height * 0.78)});
      const { data } = context.getImageData(0, 0, width, ${height});
      advances.push(width);
      for (let at = 3; at < data.length; at += 4) levels.push(Math.round(data[at] / 17));
    }
    return { advances, levels };
  })()`;
  const { advances, levels } = await page.evaluate<Drawn>(script);
  const packed = Buffer.alloc(Math.ceil(levels.length / 2));
  for (const [index, level] of levels.entries()) {
    packed[index >> 1] = (packed[index >> 1] ?? 0) | (level << (index % 2 === 0 ? 4 : 0));
  }
  const text = deflateRawSync(packed, { level: 9 }).toString('base64');
  drawn[name] = { height, advances, levels: text };
}
await browser.close();
await writeFile(
  new URL('../src/http/api/card/glyphs.ts', import.meta.url),
  `// Written by scripts/make-card-glyphs.ts.

/** The letters from ${FIRST} to ${LAST} of ASCII: how wide each is, and its levels of 4 bits, deflated. */
export const GLYPHS = ${JSON.stringify(drawn)} as const;
`,
);
