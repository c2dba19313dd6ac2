import { type SeededRandom } from './seeded-random.ts';

/** Text that breaks parsers, queries and paths. It is encoded before use in a header or a path. */
const TEXTS = [
  ...['', ' ', '0', '-1', '1e9', '0x1', '9x', '١', '1.5', '00', 'NaN', 'null', 'undefined', 'true'],
  ...['9007199254740993', '9'.repeat(40), '9'.repeat(2_000), '-9223372036854775809'],
  ...['\0', 'a\0b', '\ud800', '\udfff\ud800', '\ufeff', '\u202e', '😀', 'é'.repeat(300), '\x7f'],
  ...["'", '"', "' OR 1=1 --", "'; DROP TABLE code; --", '$1', '%', '%s%n', '${7*7}', '{{7*7}}'],
  ...['../../etc/passwd', '..%2f..%2f', '/etc/passwd', 'C:\\x', 'file:///x', '//evil.example'],
  ...['<script>alert(1)</script>', '\r\nx: y', 'a\nb', '__proto__', 'constructor', 'toString'],
  ...['0x', `0x${'g'.repeat(40)}`, `0x${'0'.repeat(39)}`, `0x${'A'.repeat(40)}`, 'eth', 'eip155:1'],
  ...['[]', '{}', '[[', '1,2', ',', '*', '.', '..', ';', '&', '=', '?', '#', 'a'.repeat(5_000)],
  ...['2026-13-45', '0000-00-00', '2026-11-21T25:61:61Z', '-000001-01-01', '2026-11-21'],
] as const;

/** Returns a hostile text. */
export function hostileText(random: SeededRandom): string {
  const text = random.pick(TEXTS) ?? '';
  if (random.chance(0.8)) return text;
  return random.chance(0.5)
    ? text + (random.pick(TEXTS) ?? '')
    : random.bytes(1 + random.below(20)).toString('latin1');
}

/** Returns a JSON value of any type, from a malicious or careless client. */
export function hostileJson(random: SeededRandom): unknown {
  switch (random.below(12)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return random.pick([0, -1, 1e308, 2 ** 53, 0.1, -0]);
    case 3:
      return [];
    case 4:
      // The methods that convert an object to text may be missing.
      return random.chance(0.5) ? {} : { toString: null, valueOf: 1 };
    case 5:
      return [hostileText(random), null, {}];
    case 6:
      return { [hostileText(random)]: hostileText(random) };
    case 7:
      return nested(10 + random.below(3_000));
    case 8:
      return Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, index]));
    default:
      return hostileText(random);
  }
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Replaces, adds or removes something anywhere in a value. */
export function mutateJson(random: SeededRandom, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) {
    return hostileJson(random);
  }
  const entries = Object.entries(value);
  const index = random.below(entries.length + 1);
  const chosen = entries[index];
  if (chosen === undefined) entries.push([hostileText(random), hostileJson(random)]);
  else if (random.chance(0.2)) entries.splice(index, 1);
  else entries[index] = [chosen[0], mutateJson(random, chosen[1])];
  if (Array.isArray(value)) return entries.map(([, each]): unknown => each);
  return Object.fromEntries<unknown>(entries);
}
