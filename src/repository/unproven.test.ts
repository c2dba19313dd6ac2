import { expect, it } from 'vitest';
import { unprovenOf, unprovenValuesOf } from './unproven.ts';

it('names storage without a creation match, and the creation where it is known to be another', () => {
  const values = { immutables: { 1: '0x' }, libraries: { 'a.sol:L': '0x' } };
  const full = { match: 'full', creationMatch: null } as const;
  expect(unprovenOf(full, null, false, false)).toEqual(['storage']);
  expect(unprovenOf(full, null, true, false)).toEqual(['storage', 'creation']);
  expect(unprovenOf(full, values, false, false)).toEqual(['immutables', 'libraries', 'storage']);
  expect(unprovenOf({ match: 'full', creationMatch: 'full' }, values, true, true)).toEqual([]);
  const partial = { match: 'partial', creationMatch: null } as const;
  expect(unprovenOf(partial, null, true, false)).toEqual([
    'names',
    'comments',
    'storage',
    'creation',
  ]);
});

it('names libraries of the settings where no hash proves the settings', () => {
  const of = (match: 'full' | 'partial', creationMatch: 'partial' | null, values: object | null) =>
    unprovenOf({ match, creationMatch }, values as Record<string, unknown> | null, false, true);
  const partial = ['names', 'comments', 'libraries', 'storage'];
  expect(of('partial', null, null)).toEqual(partial);
  expect(of('partial', null, { libraries: { 'a.sol:L': '0x' } })).toEqual(partial);
  expect(of('full', null, null)).toEqual(['storage']);
  expect(of('partial', 'partial', null)).toEqual(['names', 'comments', 'libraries']);
});

it('names the address of a library via IR where it is zero', () => {
  const values = (address: string) => ({
    immutables: { library_deploy_address: `0x${address.padStart(64, '0')}` },
  });
  expect(unprovenValuesOf(values('ab'), false)).toEqual([]);
  expect(unprovenValuesOf(values('0'), false)).toEqual(['immutables']);
});
