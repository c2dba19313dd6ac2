import { OpenAPIHono } from '@hono/zod-openapi';
import { expect, test } from 'vitest';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { addBadge } from './add-badge.ts';

test.each([
  ['a full match', { match: 'full', origin: 'verified' }, '#0b6b4f'],
  ['a partial match', { match: 'partial', origin: 'verified' }, '#8a5200'],
  ['a claimed full match', { match: 'full', origin: 'imported' }, '#524b75'],
  ['a claimed partial match', { match: 'partial', origin: 'imported' }, '#524b75'],
  ['an unverified contract', undefined, '#5f6368'],
])('the badge of %s has its own colour', async (_what, match, colour) => {
  const routes = new OpenAPIHono();
  const contracts = {
    readContract: () => Promise.resolve(match),
  } as unknown as HttpDependencies['contracts'];
  addBadge(routes, { contracts });
  const response = await routes.request(`/badge/1/0x${'12'.repeat(20)}.svg`);
  expect(await response.text()).toContain(`<path fill="${colour}"`);
});
