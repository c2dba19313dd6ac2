import { expect, test } from 'vitest';
import { CLAIMED_NOTE, describeUnproven } from '../../web/src/contract/verdict.ts';

test('explains that constructor storage is unproven, or that another constructor may have run', () => {
  const [storage, creation] = [
    describeUnproven(['storage']),
    describeUnproven(['storage', 'creation']),
  ];
  expect([storage.length, creation.length]).toEqual([1, 1]);
  expect(storage).not.toEqual(creation);
  expect(describeUnproven([])).toEqual([]);
});

test('explains what the importer claimed about the creation', () => {
  const [transaction, both] = [
    describeUnproven(['transaction']),
    describeUnproven(['transaction', 'arguments']),
  ];
  expect([transaction.length, both.length]).toEqual([1, 1]);
  expect(transaction[0]).toContain(CLAIMED_NOTE);
  expect(transaction).not.toEqual(both);
});
