import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePath } from './decode-path.ts';

describe('Path for route matching', () => {
  test.each([
    ['/a/sources%3Averify', '/a/sources:verify'],
    ['/a/sources%3averify', '/a/sources:verify'],
    ['/%76%32/%63ontract', '/v2/contract'],
    ['/x%40y%2Bz%2C', '/x@y+z,'],
    ['/%C3%A9', '/é'],
    ['/a%2Fb%2fc', '/a%2Fb%2fc'],
    ['/%253A', '/%253A'],
    ['/%3F%23', '/%3F%23'],
    ['/%C3%2F', '/%C3%2F'],
    ['/%zz%3', '/%zz%3'],
  ])('decodes %s to %s', (path, decoded) => {
    expect(decodePath(path)).toBe(decoded);
  });

  test('keeps its segments, and decoding is idempotent', () => {
    const character = fc.oneof(
      fc.constantFrom('%', '/', ':', '2', '3', 'f', 'A', 'é'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(character), (characters) => {
        const path = characters.join('');
        const decoded = decodePath(path);
        expect(decoded.split('/')).toHaveLength(path.split('/').length);
        expect(decodePath(decoded)).toBe(decoded);
      }),
    );
  });
});
