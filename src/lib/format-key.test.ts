import { expect, test } from 'vitest';
import { looksLikeName } from './format-key.ts';

test.each(['rpc', 'supportd', '424242', '18446744073709', 'max-connections_per-client', 'eip1559'])(
  'shows a key that looks like a name: %s',
  (key) => {
    expect(looksLikeName(key)).toBe(true);
  },
);

test.each([
  'https://rpc.example/v2/abc',
  '9f86d081884c7d659a2feaa0c55ad015',
  'sk_live_51H8x9zQwErTyUiOp',
  'ABCDEFGHIJ1234567890KLMNOPQRSTUVWX',
  'x'.repeat(65),
  '',
])('hides a possible secret: %s', (key) => {
  expect(looksLikeName(key)).toBe(false);
});
