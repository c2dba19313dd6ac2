import { expect, test } from 'vitest';
import {
  claimedFactsOf,
  containsImmutables,
  unprovenOf,
  type MatchValues,
  type StoredCreation,
} from './unproven.ts';

const NOTHING: MatchValues = {
  match: 'full',
  creationMatch: null,
  origin: 'verified',
  values: null,
  hasConfiguredLibraries: false,
};
const LIBRARIES = { libraries: { 'a.sol:L': '0x' } };
const BOTH = { ...LIBRARIES, immutables: { 1: '0x' } };

test('lists storage without a creation match, and the creation if it is known to differ', () => {
  expect(unprovenOf(NOTHING, false)).toEqual(['storage']);
  expect(unprovenOf(NOTHING, true)).toEqual(['storage', 'creation']);
  expect(unprovenOf({ ...NOTHING, values: BOTH }, false)).toEqual([
    ...['immutables', 'libraries', 'storage'],
  ]);
  const proven: MatchValues = { ...NOTHING, creationMatch: 'full', values: BOTH };
  expect(unprovenOf({ ...proven, hasConfiguredLibraries: true }, true)).toEqual([]);
  expect(unprovenOf({ ...proven, language: 'Vyper' }, true)).toEqual(['names', 'settings']);
  expect(unprovenOf({ ...NOTHING, match: 'partial' }, true)).toEqual([
    ...['names', 'comments', 'settings', 'storage', 'creation'],
  ]);
});

test.each([
  ['the settings', { hasConfiguredLibraries: true }],
  ['the code', { values: LIBRARIES }],
])('lists the libraries of a partial match from %s, whatever the creation match', (_, more) => {
  const of = (match: 'full' | 'partial', creationMatch: MatchValues['creationMatch']) =>
    unprovenOf({ ...NOTHING, ...more, match, creationMatch }, false);
  expect(of('partial', null)).toEqual(['names', 'comments', 'settings', 'libraries', 'storage']);
  expect(of('partial', 'partial')).toEqual(['names', 'comments', 'settings', 'libraries']);
  expect(of('full', 'full')).toEqual([]);
});

test('lists the text of an imported match as unproven', () => {
  const imported: MatchValues = { ...NOTHING, origin: 'imported', hasConfiguredLibraries: true };
  expect(unprovenOf(imported, false)).toEqual([
    'names',
    'comments',
    'settings',
    'libraries',
    'storage',
  ]);
});

test('treats a via-IR library address as an immutable if it is zero', () => {
  const values = (address: string) => ({
    immutables: { library_deploy_address: `0x${address.padStart(64, '0')}` },
  });
  expect(containsImmutables(values('ab'))).toBe(false);
  expect(containsImmutables(values('0'))).toBe(true);
});

test('reports creation facts of an import as claims until proven here', () => {
  const said: StoredCreation = {
    origin: 'imported',
    hasTransaction: true,
    hasBlock: false,
    hasArguments: true,
    areArgumentsPlaced: false,
  };
  const of = (more: Partial<StoredCreation>) => claimedFactsOf({ ...said, ...more });
  expect(of({})).toEqual(['transaction', 'arguments']);
  expect(of({ hasBlock: true })).toEqual(['arguments']);
  expect(of({ hasBlock: true, areArgumentsPlaced: true })).toEqual([]);
  expect(of({ hasTransaction: false, hasArguments: false })).toEqual([]);
  expect(of({ origin: 'verified' })).toEqual([]);
  expect(unprovenOf(NOTHING, false, of({}))).toEqual(['storage', 'transaction', 'arguments']);
});
