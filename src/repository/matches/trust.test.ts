import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { MATCHER_VERSION } from '../../bytecode/matcher-version.ts';
import { sql, type Database } from '../../store/database.ts';
import { sequenceEvents } from '../feed/sequence-events.ts';
import { rollUpEvents } from '../statistics/roll-up-events.ts';
import { indexStoredCodes } from '../known-codes/index-stored-codes.ts';
import { queueCompilations } from '../known-codes/note-compilations.ts';
import { readStoredCompilation } from '../known-codes/read-compilation.ts';
import { listNewestContracts } from '../lists/list-newest-contracts.ts';
import { recount } from '../statistics/recount.ts';
import { readContract, readRecord } from './read-contract.ts';
import { saveMatch, saveMatches, type SavedMatch } from './save-matches.ts';
import { compilationId } from './verified-contract-identity.ts';
import { type Trust, type VerifiedContract } from './verified-contract.ts';
import { withdrawMatch } from './withdraw-match.ts';

let testDatabase: TestDatabase;
let database: Database;
let nextChainId = 1000;
const freshChain = (): number => (nextChainId += 1);
const address = sampleAddress(1);

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
});
afterAll(() => testDatabase.drop());

const READ = {
  current: sql(
    'test current',
    `SELECT current_matches.match, current_matches.origin, current_matches.trust, source, matcher_version
     FROM current_matches LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
     WHERE chain_id = $1 AND address = decode(repeat('00', 19) || '01', 'hex')`,
  ),
  events: sql(
    'test events',
    'SELECT kind, match_before, match_after, origin, trust FROM match_events WHERE chain_id = $1 ORDER BY id',
  ),
  kept: sql(
    'test kept',
    `SELECT claimed_evidence.trust, compiled_contracts.name FROM claimed_evidence
     JOIN verified_contracts ON verified_contracts.id = verified_contract_id
     JOIN compiled_contracts ON compiled_contracts.id = compilation_id
     WHERE chain_id = $1 ORDER BY verified_contract_id`,
  ),
  deployment: sql(
    'test deployment',
    `SELECT transaction_hash, block_number, deployer, contract_id, claimed_block_number::int AS claimed_block_number,
       claimed_transaction_index::int AS claimed_transaction_index, claimed_deployer,
       runtime.code AS runtime, creation.code AS creation, contracts.creation_code_hash AS creation_hash
     FROM contract_deployments JOIN contracts ON contracts.id = claimed_contract_id
     LEFT JOIN code AS runtime ON runtime.code_hash = runtime_code_hash
     LEFT JOIN code AS creation ON creation.code_hash = creation_code_hash
     WHERE chain_id = $1`,
  ),
} as const;

/** An import with bytecode; `name` selects among compilations of one deployment. */
function importOf(
  chainId: number,
  match: 'full' | 'partial',
  more: Partial<VerifiedContract> & { name?: string; variant?: number } = {},
): VerifiedContract {
  const { name = 'Sample', variant, ...rest } = more;
  const contract = sampleContract(
    chainId,
    address,
    { runtimeMatch: match },
    { variant: variant ?? 0 },
  );
  return {
    ...contract,
    deployment: { claimed: { runtimeCode: Buffer.from([chainId & 255, 1]) } },
    compilation: {
      ...contract.compilation,
      name,
      runtimeCode: Buffer.from([chainId & 255, 0]),
      creationCode: Buffer.from([chainId & 255, 2]),
      areCodesClaimed: true,
    },
    source: 'example.org',
    ...rest,
  };
}

/** The same contract as verified by this service. */
function judged(contract: VerifiedContract): VerifiedContract {
  const { chainId, runtimeMatch, creationMatch, compilation, deployment } = contract;
  const runtimeCode = deployment.claimed?.runtimeCode;
  return {
    ...{ chainId, address: contract.address, runtimeMatch, creationMatch, origin: 'verified' },
    compilation: Object.fromEntries(
      Object.entries(compilation).filter(([key]) => key !== 'areCodesClaimed'),
    ) as unknown as VerifiedContract['compilation'],
    deployment: runtimeCode === undefined ? {} : { runtimeCode },
  };
}

const outcomeOf = ({ outcome }: SavedMatch): string => outcome;
const trustOfCurrent = async (chainId: number): Promise<Trust | undefined> => {
  const [row] = await database.query<{ trust: Trust }>(READ.current, [chainId]);
  return row?.trust;
};

describe('Trust of a match', () => {
  test('is claimed for an import unless it was checked, and verified for a match made here', async () => {
    const chainId = freshChain();
    await saveMatch(database, importOf(chainId, 'partial'));
    expect(await database.query(READ.current, [chainId])).toEqual([
      {
        match: 'partial',
        origin: 'imported',
        trust: 'claimed',
        source: 'example.org',
        matcher_version: null,
      },
    ]);
    await saveMatch(database, judged(importOf(chainId, 'full')));
    expect(await database.query(READ.current, [chainId])).toEqual([
      {
        match: 'full',
        origin: 'verified',
        trust: 'verified',
        source: null,
        matcher_version: MATCHER_VERSION,
      },
    ]);
    expect(await database.query(READ.events, [chainId])).toMatchObject([
      { kind: 'stored', trust: 'claimed' },
      { kind: 'upgraded', trust: 'verified' },
    ]);
  });

  test('only rises for an equal match of the same text, without changing counts', async () => {
    const chainId = freshChain();
    const outcomes: string[] = [];
    for (const trust of ['rechecked', 'claimed', 'recompiled', 'rechecked'] as const) {
      outcomes.push(outcomeOf(await saveMatch(database, importOf(chainId, 'full', { trust }))));
    }
    expect(outcomes).toEqual(['stored', 'unchanged', 'upgraded', 'unchanged']);
    expect(await trustOfCurrent(chainId)).toBe('recompiled');
    expect(await database.query(READ.events, [chainId])).toMatchObject([
      { kind: 'stored', trust: 'rechecked' },
      { kind: 'upgraded', match_before: 'full', match_after: 'full', trust: 'recompiled' },
    ]);
  });

  test('does not let another text replace an equal match', async () => {
    const chainId = freshChain();
    await saveMatch(database, importOf(chainId, 'partial'));
    const other = importOf(chainId, 'partial', { variant: 5, trust: 'recompiled' });
    expect(outcomeOf(await saveMatch(database, other))).toBe('unchanged');
    expect(await trustOfCurrent(chainId)).toBe('claimed');
  });

  test('of a better match replaces the higher trust of a worse one', async () => {
    const chainId = freshChain();
    await saveMatch(database, importOf(chainId, 'partial', { trust: 'recompiled' }));
    await saveMatch(database, importOf(chainId, 'full', { variant: 1 }));
    expect(await trustOfCurrent(chainId)).toBe('claimed');
  });

  test('of an import never suffices to replace a match verified here', async () => {
    const chainId = freshChain();
    await saveMatch(database, judged(importOf(chainId, 'partial')));
    const import_ = importOf(chainId, 'full', { trust: 'recompiled' });
    expect(outcomeOf(await saveMatch(database, import_))).toBe('unchanged');
    expect(await trustOfCurrent(chainId)).toBe('verified');
    expect(await database.query(READ.kept, [chainId])).toEqual([]);
  });

  test('is checked against the events and repaired by a recount', async () => {
    const chainId = freshChain();
    await saveMatch(database, importOf(chainId, 'full', { trust: 'rechecked' }));
    await database.query(
      sql(
        'test change trust',
        `UPDATE current_matches SET trust = 'recompiled' WHERE chain_id = $1`,
      ),
      [chainId],
    );
    const { differences } = await recount(database, { repair: true });
    expect(differences.filter((found) => found.chainId === chainId)).toEqual([
      {
        kind: 'trust_against_events',
        chainId,
        address,
        stored: 'recompiled',
        expected: 'rechecked',
      },
    ]);
    expect(await trustOfCurrent(chainId)).toBe('rechecked');
    const again = await recount(database, { repair: false });
    expect(again.differences.filter((found) => found.chainId === chainId)).toEqual([]);
  });

  test('is reflected in the counts by compiler', async () => {
    const chainId = freshChain();
    const events: string[] = [];
    const add = async (contract: VerifiedContract): Promise<void> => {
      const { eventNumber } = await saveMatch(database, contract);
      if (eventNumber !== undefined) events.push(eventNumber);
    };
    await add(importOf(chainId, 'full'));
    await add(importOf(chainId, 'full', { trust: 'rechecked' }));
    await sequenceEvents(database);
    await database.transaction(async (transaction) => {
      for (const event of events) await rollUpEvents(transaction, [event]);
    });
    const rows = await database.query(
      sql(
        'test compiler counts',
        `SELECT trust, full_match::int AS full FROM compiler_counts WHERE chain_id = $1 ORDER BY trust`,
      ),
      [chainId],
    );
    expect(rows).toEqual([
      { trust: 'claimed', full: 0 },
      { trust: 'rechecked', full: 1 },
    ]);
  });

  test('filters a list by minimum trust', async () => {
    const chainId = freshChain();
    const at = (number: number, trust?: 'rechecked' | 'recompiled'): VerifiedContract => ({
      ...importOf(chainId, 'full', trust && { trust }),
      address: sampleAddress(number),
    });
    await saveMatches(database, [at(1), at(2, 'rechecked'), at(3, 'recompiled'), judged(at(4))]);
    const found = async (trust?: Trust): Promise<number> => {
      const question = { chainId, limit: 10, ...(trust && { trust }) };
      return (await listNewestContracts(database, question)).results.length;
    };
    expect(await found()).toBe(4);
    expect(await found('claimed')).toBe(4);
    expect(await found('rechecked')).toBe(3);
    expect(await found('recompiled')).toBe(2);
    expect(await found('verified')).toBe(1);
  });
});

describe('Evidence of an import', () => {
  const transactionHash = `0x${'77'.repeat(32)}` as const;
  const deployer = sampleAddress(9);

  test('keeps bytecodes and facts as claims, separate from what was read here', async () => {
    const chainId = freshChain();
    const runtimeCode = Buffer.from('600160', 'hex');
    const creationCode = Buffer.from('600260', 'hex');
    const claimed = { blockNumber: 7, transactionIndex: 3, deployer, runtimeCode, creationCode };
    await saveMatch(
      database,
      importOf(chainId, 'full', { deployment: { transactionHash, claimed } }),
    );
    expect(await database.query(READ.deployment, [chainId])).toMatchObject([
      {
        transaction_hash: Buffer.from(transactionHash.slice(2), 'hex'),
        ...{ block_number: null, deployer: null, contract_id: null },
        ...{ claimed_block_number: 7, claimed_transaction_index: 3 },
        claimed_deployer: Buffer.from(deployer.slice(2), 'hex'),
        ...{ runtime: runtimeCode, creation: creationCode },
      },
    ]);
    const record = await readRecord(database, chainId, address, ['runtimeCode', 'creationCode']);
    expect(record?.sections.row).toMatchObject({ runtime_on_chain: null, creation_on_chain: null });
  });

  test('preserves a genesis allocation and unknown creation bytecode', async () => {
    const chainId = freshChain();
    const claimed = { blockNumber: -1, runtimeCode: Buffer.from('60', 'hex'), creationCode: null };
    await saveMatch(database, importOf(chainId, 'full', { deployment: { claimed } }));
    expect(await database.query(READ.deployment, [chainId])).toMatchObject([
      {
        ...{ transaction_hash: null, claimed_block_number: -1, creation: null },
        creation_hash: Buffer.alloc(0),
      },
    ]);
  });

  test('keeps further compilations of a deployment as alternatives, each once', async () => {
    const chainId = freshChain();
    await saveMatch(database, importOf(chainId, 'partial', { name: 'First' }));
    for (const round of [1, 2]) {
      const again = importOf(chainId, 'partial', { name: 'Second', variant: 1 });
      const saved = await saveMatch(database, again);
      expect([round, saved.outcome]).toEqual([round, 'unchanged']);
    }
    await saveMatch(database, importOf(chainId, 'partial', { name: 'First' }));
    expect(await database.query(READ.kept, [chainId])).toEqual([
      { trust: 'claimed', name: 'Second' },
    ]);
    await saveMatch(
      database,
      importOf(chainId, 'full', { name: 'Second', variant: 1, trust: 'rechecked' }),
    );
    expect(await database.query(READ.kept, [chainId])).toEqual([
      { trust: 'claimed', name: 'First' },
    ]);
    const { differences } = await recount(database, { repair: false });
    expect(differences.filter((found) => found.chainId === chainId)).toEqual([]);
  });

  test('drops alternatives with the withdrawal of the match', async () => {
    const chainId = freshChain();
    await saveMatch(database, importOf(chainId, 'partial', { name: 'First' }));
    await saveMatch(database, importOf(chainId, 'partial', { name: 'Second', variant: 1 }));
    await withdrawMatch(database, { chainId, address, reason: 'test' });
    expect(await database.query(READ.kept, [chainId])).toEqual([]);
    expect(await readContract(database, chainId, address)).toBeUndefined();
  });

  test('neither indexes claimed bytecodes nor treats them as compiler output', async () => {
    const chainId = freshChain();
    const contract = importOf(chainId, 'full', {
      trust: 'rechecked',
      deployment: { claimed: { runtimeCode: Buffer.from('60016002600360045b5b', 'hex') } },
    });
    const { eventNumber } = await saveMatch(database, contract);
    await database.transaction((transaction) =>
      queueCompilations(transaction, [eventNumber ?? '']),
    );
    while ((await indexStoredCodes(database)) > 0);
    const id = compilationId(contract.compilation);
    const known = await database.query(
      sql('test known', 'SELECT FROM known_contracts WHERE compilation_id = $1'),
      [id],
    );
    expect(known).toEqual([]);
    const stored = await readStoredCompilation(database, id, 1_000_000);
    expect(stored?.compilation.runtimeCode).toBeUndefined();
    expect(stored?.compilation.creationCode).toBeUndefined();
  });

  test('keeps the additional input of a compilation, which differs from one made here', async () => {
    const chainId = freshChain();
    const contract = importOf(chainId, 'full');
    const additionalInput = { storage_layout_overrides: { a: { slot: 1 } } };
    const compilation = {
      ...contract.compilation,
      language: 'fe',
      compiler: 'fe',
      additionalInput,
    };
    await saveMatch(database, { ...contract, compilation });
    const [row] = await database.query(
      sql(
        'test compilation',
        'SELECT language, additional_input FROM compiled_contracts WHERE id = $1',
      ),
      [compilationId(compilation)],
    );
    expect(row).toEqual({ language: 'fe', additional_input: additionalInput });
    expect(compilationId(judged(contract).compilation)).not.toBe(
      compilationId(contract.compilation),
    );
  });
});
