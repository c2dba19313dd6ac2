import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { parseChainList } from './chain-list.ts';
import { acceptSnapshot, readCurrentSnapshot, readSnapshotList } from './snapshots.ts';

const SOURCE = 'https://lists.test/chains.json';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

let lists = 0;
/** Accepts a list that takes these names from its chains, and reads what is kept of all lists. */
async function keepNames(
  formerNames: readonly { readonly chainId: number; readonly name: string }[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const { database } = testDatabase;
  lists += 1;
  const text = JSON.stringify([{ chainId: 1, name: `List ${lists}` }]);
  const stored = await acceptSnapshot(database, {
    text,
    list: parseChainList(text, SOURCE),
    inForce: [],
    formerNames,
    sources: [SOURCE],
    judgedAgainst: await readCurrentSnapshot(database, [SOURCE]),
  });
  if (stored === undefined) throw new Error('nobody else accepts lists here');
  return (await readSnapshotList(database, stored)).formerNames ?? new Map();
}

test('a list is accepted however long the names are that it takes from chains', async () => {
  const longest = '\u{1f517}'.repeat(100);
  // Random, so that no index holds it compressed.
  const tooLong = Array.from({ length: 6000 }, () =>
    String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20_000)),
  ).join('');
  const kept = await keepNames([
    { chainId: 2, name: tooLong },
    { chainId: 2, name: longest },
    { chainId: 2, name: `${longest}s` },
  ]);
  expect(kept.get(2)).toEqual([longest]);
});

test('the latest names of a chain are kept, however often it is renamed', async () => {
  let kept: ReadonlyMap<number, readonly string[]> = new Map();
  for (let number = 1; number <= 12; number += 1) {
    kept = await keepNames([{ chainId: 3, name: `Name ${number}` }]);
  }
  expect(kept.get(3)).toEqual(Array.from({ length: 10 }, (_each, index) => `Name ${12 - index}`));
});

test('the names of chains that come and go are bounded, and the latest are kept', async () => {
  for (const round of [1, 2, 3]) {
    const gone = Array.from({ length: 9_000 }, (_each, index) => ({
      chainId: round * 100_000 + index,
      name: `Gone ${index}`,
    }));
    const kept = await keepNames(gone);
    expect([...kept.values()].flat().length).toBeLessThanOrEqual(20_000);
    for (const { chainId, name } of gone.slice(0, 100)) expect(kept.get(chainId)).toEqual([name]);
  }
});
