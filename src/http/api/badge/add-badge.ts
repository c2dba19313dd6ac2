import { type OpenAPIHono } from '@hono/zod-openapi';

import { entityTags } from '../../../lib/entity-tag.ts';
import { type Hex } from '../../../lib/hex.ts';
import { renderRing, RING_SIZE, type RingShape } from '../../../lib/ring-shapes.ts';
import { answer, notModified, REVALIDATED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { badgeRoute } from './badge-routes.ts';

const LABEL = 'contract';
/** Verdicts: the colour, on which white has a contrast of at least 4.5 to 1, and the ring. */
const VERDICTS = {
  full: { colour: '#0b6b4f', ring: 'filled' },
  partial: { colour: '#8a5200', ring: 'half' },
  claimed: { colour: '#524b75', ring: 'dashed' },
  none: { colour: '#5f6368', ring: 'empty' },
  withdrawn: { colour: '#96190f', ring: 'struck' },
} as const satisfies Record<string, { readonly colour: string; readonly ring: RingShape }>;
const LABEL_COLOUR = '#3c4043';
/** Average character width of a sans-serif font at 11 px; the text is fitted to it. */
const CHARACTER_WIDTH = 6.3;
const PADDING = 6;
const HEIGHT = 20;
const RING_PIXELS = 12;
/** The ring with the space before it; the text after it brings its own. */
const RING_WIDTH = RING_PIXELS + 4;

/** What a badge shows. */
interface Verdict {
  readonly kind: keyof typeof VERDICTS;
  readonly words: string;
}

/** Returns the verdict on a contract. A claim imported from another service is not a match verified here. */
async function readVerdict(
  contracts: Pick<HttpDependencies['contracts'], 'readContract' | 'readWithdrawnMatch'>,
  chainId: number,
  address: Hex,
): Promise<Verdict> {
  const found = await contracts.readContract(chainId, address);
  if (found !== undefined) {
    const { match, origin } = found;
    const words = `${match} match`;
    return origin === 'imported'
      ? { kind: 'claimed', words: `claimed ${words}` }
      : { kind: match, words };
  }
  const withdrawn = await contracts.readWithdrawnMatch(chainId, address);
  return withdrawn === undefined
    ? { kind: 'none', words: 'not verified' }
    : { kind: 'withdrawn', words: 'withdrawn' };
}

function renderBadge({ kind, words }: Verdict): string {
  const { colour, ring } = VERDICTS[kind];
  const widthOf = (text: string): number => Math.round(text.length * CHARACTER_WIDTH + 2 * PADDING);
  const left = widthOf(LABEL);
  const right = RING_WIDTH + widthOf(words);
  const text = (shown: string, from: number, width: number): string =>
    `<text x="${from + width / 2}" y="14" textLength="${width - 2 * PADDING}" lengthAdjust="spacingAndGlyphs">${shown}</text>`;
  const mark = `<g color="#fff" transform="translate(${left + PADDING} ${(HEIGHT - RING_PIXELS) / 2}) scale(${RING_PIXELS / RING_SIZE})">${renderRing(ring)}</g>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${HEIGHT}" role="img" aria-label="${LABEL}: ${words}"><title>${LABEL}: ${words}</title><rect width="${left + right}" height="${HEIGHT}" rx="3" fill="${LABEL_COLOUR}"/><path fill="${colour}" d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H${left}z"/>${mark}<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(LABEL, 0, left)}${text(words, left + RING_WIDTH, right - RING_WIDTH)}</g></svg>`;
}

/** Adds the badge that shows whether a contract is verified, and with which match. */
export function addBadge(
  routes: OpenAPIHono,
  { contracts }: Pick<HttpDependencies, 'contracts'>,
): void {
  routes.openapi(badgeRoute, async (c) => {
    const { chainId, file: address } = c.req.valid('param');
    const bytes = Buffer.from(renderBadge(await readVerdict(contracts, chainId, address)));
    const tags = entityTags(bytes);
    return (
      notModified(c.req.header('if-none-match'), tags) ??
      answer(bytes, {
        type: 'image/svg+xml',
        cacheControl: REVALIDATED,
        headers: { etag: tags.identity, 'content-security-policy': "default-src 'none'" },
      })
    );
  });
}
