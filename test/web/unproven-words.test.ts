import { expect, test } from 'vitest';
import { describeUnproven } from '../../web/src/contract/verdict.ts';

test('says that what the constructor stored is not proven, or that another one ran', () => {
  const [storage, creation] = [
    describeUnproven(['storage']),
    describeUnproven(['storage', 'creation']),
  ];
  expect([storage.length, creation.length]).toEqual([1, 1]);
  expect(storage).not.toEqual(creation);
  expect(describeUnproven([])).toEqual([]);
});
