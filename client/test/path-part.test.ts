import { expect, test } from 'vitest';
import { pathPart } from '../src/path-part.ts';

test.each(['', '.', '..', '%2e', '%2E.', ' ', '/', '../..', String.raw`\..`, '?', '#', '...', 'a'])(
  'encodes %j as a single path segment that decodes unchanged',
  (text) => {
    const { pathname, search, hash } = new URL(
      `/v1/chains/${pathPart(text)}/x`,
      'http://localhost',
    );
    const parts = pathname.split('/');
    expect([parts.length, parts[4], search, hash]).toEqual([5, 'x', '', '']);
    expect(decodeURIComponent(parts[3] ?? '').trim()).toBe(text.trim());
  },
);
