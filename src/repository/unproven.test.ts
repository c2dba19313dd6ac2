import { expect, it } from 'vitest';
import { unprovenOf } from './unproven.ts';

it('names storage without a creation match, and the creation where it is known to be another', () => {
  const values = { immutables: { 1: '0x' }, libraries: { 'a.sol:L': '0x' } };
  const full = { match: 'full', creationMatch: null } as const;
  expect(unprovenOf(full, null, false)).toEqual(['storage']);
  expect(unprovenOf(full, null, true)).toEqual(['storage', 'creation']);
  expect(unprovenOf(full, values, false)).toEqual(['immutables', 'libraries', 'storage']);
  expect(unprovenOf({ match: 'full', creationMatch: 'full' }, values, true)).toEqual([]);
  const partial = { match: 'partial', creationMatch: null } as const;
  expect(unprovenOf(partial, null, true)).toEqual(['names', 'comments', 'storage', 'creation']);
});
