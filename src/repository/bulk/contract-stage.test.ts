import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { runsOfSuite } from '../../../test/support/suite.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { sql, type Database } from '../../store/database.ts';
import { type SavedMatch, saveMatches } from '../matches/save-matches.ts';
import { type Match, type Origin, type VerifiedContract } from '../matches/verified-contract.ts';
import { withdrawMatch } from '../matches/withdraw-match.ts';
import { recount } from '../statistics/recount.ts';
import { ContractStage } from './contract-stage.ts';
import { ContractPacker, type PackedContracts } from './packed-contracts.ts';

let one: TestDatabase;
let other: TestDatabase;
beforeAll(async () => {
  [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
});
afterAll(() => Promise.all([one.drop(), other.drop()]));

/** Packs as the reading threads build them: several for a batch. */
function pack(contracts: readonly VerifiedContract[], packs = 3): PackedContracts[] {
  const packer = new ContractPacker();
  const size = Math.ceil(contracts.length / packs);
  return Array.from({ length: packs }, (_, index) => {
    for (let number = index * size; number < Math.min(contracts.length, (index + 1) * size);) {
      packer.add(contracts[number]!, number);
      number += 1;
    }
    return packer.take();
  });
}

const saveStaged = (
  database: Database,
  contracts: readonly VerifiedContract[],
): Promise<readonly SavedMatch[]> =>
  database.session(async (session) => {
    const stage = await ContractStage.open(session);
    const packs = pack(contracts);
    await stage.fill(packs);
    return stage.save(packs.flatMap((each) => each.contracts));
  });

const TABLES = [
  ...['current_matches', 'match_events', 'chain_counts', 'alternative_matches', 'feed_queue'],
  ...['verified_contracts', 'contract_deployments', 'contracts', 'compiled_contracts'],
  ...['compiled_contracts_sources', 'sources', 'code', 'immutable_types', 'claimed_evidence'],
];
/** Every row of every table, except times and random ids. */
async function dump({ database }: TestDatabase): Promise<Record<string, unknown>> {
  const tables = await Promise.all(
    TABLES.map(async (table) => {
      const drawn = table === 'compiled_contracts_sources' ? `- 'id'` : '';
      const rows = await database.query<{ row: unknown }>(
        sql(
          `test: dump ${table}`,
          `SELECT to_jsonb(each) - 'created_at' - 'updated_at' - 'recorded_at' - 'first_matched_at' ${drawn} AS row
           FROM ${table} AS each ORDER BY 1`,
        ),
      );
      return [table, rows.map(({ row }) => row)] as const;
    }),
  );
  return Object.fromEntries(tables);
}

const matches = fc.constantFrom<Match | null>('full', 'partial', null);
const code = fc.constantFrom(undefined, ...[1, 2].map((byte) => Buffer.alloc(40, byte)));
const contract = (origin: fc.Arbitrary<Origin>): fc.Arbitrary<VerifiedContract> =>
  fc
    .record({
      chainId: fc.integer({ min: 1, max: 2 }),
      address: fc.integer({ min: 1, max: 4 }),
      runtimeMatch: matches,
      creationMatch: matches,
      variant: fc.nat(3),
      origin,
      runtimeCode: code,
      creationCode: code,
      claimedCode: code,
      isCreationUnknown: fc.boolean(),
      trust: fc.constantFrom('claimed', 'rechecked', 'recompiled', undefined),
    })
    .filter((each) => each.runtimeMatch !== null || each.creationMatch !== null)
    .map(({ chainId, address, variant, runtimeCode, creationCode, origin: by, ...each }) => ({
      ...sampleContract(chainId, sampleAddress(address), each, { variant, origin: by }),
      ...(by === 'imported' && { source: 'a.example', ...(each.trust && { trust: each.trust }) }),
      deployment: {
        ...(by === 'imported' &&
          each.claimedCode && {
            claimed: {
              runtimeCode: each.claimedCode,
              ...(each.isCreationUnknown && { creationCode: null, blockNumber: -1 }),
            },
          }),
        ...(runtimeCode && { runtimeCode }),
        ...(creationCode && { creationCode, blockNumber: 7, deployer: sampleAddress(9) }),
      },
      ...(runtimeCode && {
        runtime: { transformations: [{ reason: 'library', offset: 1 }], values: { a: 'b\t\\' } },
      }),
    }));
const history = fc.oneof(
  { weight: 3, arbitrary: fc.array(contract(fc.constantFrom<Origin>('verified', 'monitored'))) },
  { weight: 4, arbitrary: fc.array(contract(fc.constant<Origin>('imported'))) },
  { weight: 1, arbitrary: fc.nat(3) },
);

describe('Staged contracts', () => {
  test('produce the same rows, events, counts and outcomes as saveMatches for any history', async () => {
    let newChain = 10;
    await fc.assert(
      fc.asyncProperty(fc.array(history, { minLength: 1, maxLength: 6 }), async (steps) => {
        newChain += 10;
        const onChain = (contracts: readonly VerifiedContract[]): VerifiedContract[] =>
          contracts.map((each) => ({ ...each, chainId: each.chainId + newChain }));
        for (const step of steps) {
          if (typeof step === 'number') {
            const withdrawal = {
              ...{ chainId: newChain + 1, address: sampleAddress(step), reason: 'test' },
            };
            for (const { database } of [one, other])
              await withdrawMatch(database, withdrawal).catch(() => undefined);
            continue;
          }
          const contracts = onChain(step);
          const expected = await saveMatches(one.database, contracts);
          const isClaimed = contracts.every(({ origin }) => origin === 'imported');
          const save = isClaimed ? saveStaged : saveMatches;
          expect(await save(other.database, contracts)).toEqual(expected);
        }
        expect(await dump(other)).toEqual(await dump(one));
      }),
      { numRuns: runsOfSuite(40) },
    );
    expect((await recount(other.database, { repair: false })).differences).toEqual([]);
  });

  test('from concurrent stages and saves yield the best match and right count per address', async () => {
    const contracts = Array.from({ length: 240 }, (_, index) =>
      sampleContract(
        9_001 + (index % 2),
        sampleAddress(index % 40),
        { runtimeMatch: index % 3 === 0 ? 'full' : 'partial' },
        { variant: index % 7, origin: index % 5 === 0 ? 'verified' : 'imported' },
      ),
    );
    const claimed = contracts.filter(({ origin }) => origin === 'imported');
    const judged = contracts.filter(({ origin }) => origin !== 'imported');
    const parts = [0, 1, 2].map((part) => claimed.filter((_, index) => index % 3 === part));
    await Promise.all([
      ...parts.map((part) => saveStaged(one.database, part)),
      ...judged.map((each) => saveMatches(one.database, [each])),
    ]);
    const { differences } = await recount(one.database, { repair: false });
    expect(differences).toEqual([]);
    const [row] = await one.database.query<{ full: number; partial: number }>(
      sql(
        'test: count staged',
        `SELECT sum(full_match)::int AS full, sum(partial_match)::int AS partial FROM chain_counts WHERE chain_id > 9000`,
      ),
    );
    const addresses = new Set(contracts.map(({ chainId, address }) => `${chainId} ${address}`));
    expect((row?.full ?? 0) + (row?.partial ?? 0)).toBe(addresses.size);
  });

  test('sends content once, even if it is already stored or occurs twice', async () => {
    const sent: string[] = [];
    const contracts = Array.from({ length: 6 }, (_, index) =>
      sampleContract(8_001, sampleAddress(index), { runtimeMatch: 'full' }, { variant: index % 2 }),
    );
    await one.database.session(async (session) => {
      const stage = await ContractStage.open({
        acknowledged: session.acknowledged,
        query: (statement, values) => session.query(statement, values),
        transaction: (work) => session.transaction(work),
        copyIn: (statement, rows) => {
          sent.push(statement.label);
          return session.copyIn(statement, rows);
        },
      });
      for (const part of [contracts.slice(0, 4), contracts.slice(4)]) {
        const packs = pack(part);
        await stage.fill(packs);
        await stage.save(packs.flatMap((each) => each.contracts));
      }
    });
    // Their compilations were stored by earlier tests.
    expect(sent).toEqual(['copy into staged_contracts', 'copy into staged_contracts']);
  });
});
