import { saveMatches } from '../../src/repository/matches/save-matches.ts';
import { sql, type Database } from '../../src/store/database.ts';
import {
  type Origin,
  type VerifiedContract,
} from '../../src/repository/matches/verified-contract.ts';
import { sampleAddress, sampleContract } from './sample-contracts.ts';

const BATCH = 1000;
const COMPILATIONS = 20_000;

/** Stores this many contracts on five chains: some names and bytecodes are frequent, some occur once. */
export async function fillContracts(database: Database, contracts: number): Promise<void> {
  for (let first = 0; first < contracts; first += BATCH) {
    const length = Math.min(BATCH, contracts - first);
    const batch = Array.from({ length }, (_, index) => fillContract(first + index));
    await saveMatches(database, batch);
  }
  await database.query(sql('test analyze', 'ANALYZE'));
}

function fillContract(number: number): VerifiedContract {
  const compilation = number % COMPILATIONS;
  const name = compilation % 2 === 0 ? 'GreatToken' : `Name${compilation}x`;
  const origin: Origin = number % 3 === 0 ? 'verified' : 'imported';
  const sample = sampleContract(1 + (number % 5), sampleAddress(number + 1), {
    runtimeMatch: number % 4 === 0 ? 'full' : 'partial',
  });
  return {
    ...sample,
    origin,
    deployment: { runtimeCode: Buffer.from([0x60, number % 10]) },
    compilation: {
      ...sample.compilation,
      name,
      version: `0.8.${compilation % 20}+commit.00000000`,
      metadata: JSON.stringify({ compilation }),
    },
  };
}
