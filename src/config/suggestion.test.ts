import { expect, test } from 'vitest';
import { closestName } from './suggestion.ts';

test.each([
  ['chain', ['chainsDirectory', 'chains'], 'chains'],
  ['chains_directory', ['chainsDirectory', 'chains'], 'chainsDirectory'],
  ['mirr', ['mirror', 'metrics'], 'mirror'],
  ['prot', ['port', 'publicUrl'], 'port'],
  ['unheard', ['port', 'host'], undefined],
])('suggests for %s among %j: %s', (unknown, known, meant) => {
  expect(closestName(unknown, known)).toBe(meant);
});
