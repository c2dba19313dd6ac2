import { expect, it } from 'vitest';
import { unprovenOf, unprovenValuesOf } from './unproven.ts';

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

it('names the address of a library via IR where it is zero', () => {
  const values = (address: string) => ({
    immutables: { library_deploy_address: `0x${address.padStart(64, '0')}` },
  });
  expect(unprovenValuesOf(values('ab'), false)).toEqual([]);
  expect(unprovenValuesOf(values('0'), false)).toEqual(['immutables']);
});
