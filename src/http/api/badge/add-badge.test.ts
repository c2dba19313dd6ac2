import { OpenAPIHono } from '@hono/zod-openapi';
import { expect, test } from 'vitest';
import { renderRing, type RingShape } from '../../../lib/ring-shapes.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { addBadge } from './add-badge.ts';

test.each<[string, object | undefined, object | undefined, string, RingShape]>([
  ['a full match', { match: 'full', origin: 'verified' }, undefined, '#0b6b4f', 'filled'],
  ['a partial match', { match: 'partial', origin: 'verified' }, undefined, '#8a5200', 'half'],
  ['a claimed full match', { match: 'full', origin: 'imported' }, undefined, '#524b75', 'dashed'],
  [
    'a claimed partial one',
    { match: 'partial', origin: 'imported' },
    undefined,
    '#524b75',
    'dashed',
  ],
  ['an unverified contract', undefined, undefined, '#5f6368', 'empty'],
  ['a withdrawn match', undefined, { match: 'full' }, '#96190f', 'struck'],
])('the badge of %s has its own colour and ring', async (_what, match, withdrawn, colour, ring) => {
  const routes = new OpenAPIHono();
  const contracts = {
    readContract: () => Promise.resolve(match),
    readWithdrawnMatch: () => Promise.resolve(withdrawn),
  } as unknown as HttpDependencies['contracts'];
  addBadge(routes, { contracts });
  const response = await routes.request(`/badge/1/0x${'12'.repeat(20)}.svg`);
  const svg = await response.text();
  expect(svg).toContain(`<path fill="${colour}"`);
  expect(svg).toContain(`>${renderRing(ring)}</g>`);
});
