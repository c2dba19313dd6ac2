import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countReads } from '../../../test/support/counted-bytes.ts';
import { readUrlencoded } from './read-urlencoded.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 40 });
/** Longer names are not read. */
const name = text.filter((each) => Buffer.byteLength(each) <= 64);

test('reads what URLSearchParams writes, first value per name', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, text), { maxLength: 20 }), name, (pairs, wanted) => {
      const written = new URLSearchParams(pairs);
      const names = new Set([wanted, ...pairs.slice(0, 5).map(([each]) => each)]);
      const read = readUrlencoded(Buffer.from(written.toString()), names);
      for (const each of names) {
        expect(read.get(each)?.toString('utf8') ?? null).toBe(written.get(each));
      }
      expect(read.size).toBeLessThanOrEqual(names.size);
    }),
  );
});

test('reads arbitrary bytes like URLSearchParams', () => {
  const characters = fc.constantFrom('a', '=', '&', '%', '+', '4', 'c', 'C', '3', ' ', 'é', ';');
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 60 }), (body) => {
      const names = new Set(['a', 'a4', '', 'c']);
      const read = readUrlencoded(Buffer.from(body), names);
      // Node decodes a non-ASCII letter next to an invalid UTF-8 byte incorrectly unless the letter is
      // percent-encoded too.
      const coded = body.replaceAll('é', '%C3%A9');
      const parsed = new URLSearchParams(coded.startsWith('?') ? `&${coded}` : coded);
      for (const [name, value] of read) expect(value.toString('utf8')).toBe(parsed.get(name));
    }),
  );
});

test('decodes only wanted values and rejects too many fields', () => {
  const body = Buffer.from(`${'%41'.repeat(100_000)}=x&a=1&${'b=&'.repeat(90)}`);
  expect([...readUrlencoded(body, new Set(['a']))]).toEqual([['a', Buffer.from('1')]]);
  expect(() => readUrlencoded(Buffer.from('b=&'.repeat(101)), new Set(['a']))).toThrow(
    expect.objectContaining({ code: 'malformed_request' }) as Error,
  );
});

test.each(['x', '+', '%', '%4'])('reads each byte of a body of %s at most three times', (sign) => {
  const body = Buffer.from(`a=${sign.repeat(30_000)}`);
  const { bytes, reads } = countReads(body);
  expect(readUrlencoded(bytes, new Set(['a'])).get('a')).toHaveLength(sign.length * 30_000);
  expect(reads()).toBeLessThanOrEqual(3 * body.length);
});
