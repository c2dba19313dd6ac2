import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { attachCreation } from './attach-creation.ts';
import { readAlternatives } from './read-alternatives.ts';
import { hexToBytes } from '../../lib/hex.ts';
import { sql } from '../../store/database.ts';
import { saveMatch } from './save-matches.ts';
import { type Match } from './verified-contract.ts';

const SHOWN = sql(
  'test shown',
  'SELECT verified_contract_id AS id FROM current_matches WHERE chain_id = 1 AND address = $1',
);

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

test.each<[Match, number]>([
  ['partial', 2],
  ['full', 0],
])(
  'attaching a %s creation leaves %i alternatives next to the shown match',
  async (creationMatch, left) => {
    const { database } = testDatabase;
    const address = sampleAddress(creationMatch.length);
    const partialOf = (variant: number) =>
      sampleContract(1, address, { runtimeMatch: 'partial' }, { origin: 'verified', variant });
    for (const variant of [0, 1, 2]) await saveMatch(database, partialOf(variant));
    expect(await readAlternatives(database, 1, address)).toHaveLength(2);
    const [shown] = await database.query<{ id: string }>(SHOWN, [hexToBytes(address)]);
    const deployment = { transactionHash: `0x${'ab'.repeat(32)}` } as const;
    const matchId = shown?.id ?? '';
    const contract = { ...partialOf(1), deployment };
    const attached = { contract, matchId, creationMatch };
    expect(await attachCreation(database, attached)).toEqual(expect.any(String));
    expect(await readAlternatives(database, 1, address)).toHaveLength(left);
  },
);
