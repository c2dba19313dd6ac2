import { type OpenAPIHono } from '@hono/zod-openapi';

import { entityTags, matchIfNoneMatch } from '../../../lib/entity-tag.ts';
import { type ContractMatch } from '../../../repository/repository.ts';
import { BASE_HEADERS, makeResponse, REVALIDATED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { badgeRoute } from './badge-routes.ts';

const LABEL = 'contract';
/** White text on each of these has a contrast of at least 4.5 to 1. */
const COLOURS = {
  full: '#0b6b4f',
  partial: '#8a5200',
  claimed: '#524b75',
  none: '#5f6368',
  label: '#3c4043',
} as const;
/** Average character width of a sans-serif font at 11 px; the text is fitted to it. */
const CHARACTER_WIDTH = 6.3;
const PADDING = 6;
const HEIGHT = 20;

/** Returns the text of a badge. A claim imported from another service is not a match verified here. */
function wordsOf(match: ContractMatch | undefined): string {
  if (match === undefined) return 'not verified';
  return `${match.origin === 'imported' ? 'claimed ' : ''}${match.match} match`;
}

function renderBadge(match: ContractMatch | undefined): string {
  const words = wordsOf(match);
  const widthOf = (text: string): number => Math.round(text.length * CHARACTER_WIDTH + 2 * PADDING);
  const [left, right] = [widthOf(LABEL), widthOf(words)];
  const colour = COLOURS[match?.origin === 'imported' ? 'claimed' : (match?.match ?? 'none')];
  const text = (shown: string, from: number, width: number): string =>
    `<text x="${from + width / 2}" y="14" textLength="${width - 2 * PADDING}" lengthAdjust="spacingAndGlyphs">${shown}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${HEIGHT}" role="img" aria-label="${LABEL}: ${words}"><title>${LABEL}: ${words}</title><rect width="${left + right}" height="${HEIGHT}" rx="3" fill="${COLOURS.label}"/><path fill="${colour}" d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H${left}z"/><g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(LABEL, 0, left)}${text(words, left, right)}</g></svg>`;
}

/** Adds the badge that shows whether a contract is verified, and with which match. */
export function addBadge(
  routes: OpenAPIHono,
  { contracts }: Pick<HttpDependencies, 'contracts'>,
): void {
  routes.openapi(badgeRoute, async (c) => {
    const { chainId, file: address } = c.req.valid('param');
    const match = await contracts.readContract(chainId, address);
    const bytes = Buffer.from(renderBadge(match));
    const tags = entityTags(bytes);
    const headers = { ...BASE_HEADERS, etag: tags.identity, 'cache-control': REVALIDATED };
    const held = c.req.header('if-none-match');
    if (held !== undefined && matchIfNoneMatch(held, tags, 'identity') !== undefined) {
      return makeResponse(null, { status: 304, headers });
    }
    return makeResponse(bytes, {
      status: 200,
      headers: {
        ...headers,
        'content-type': 'image/svg+xml',
        'content-length': String(bytes.byteLength),
        'content-security-policy': "default-src 'none'",
      },
    });
  });
}
