import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { type Hex } from '../../lib/hex.ts';
import { sql, type Database } from '../../store/database.ts';
import {
  CODE_REPLACED,
  CREATION_DISPROVED,
  CREATION_REPLACED,
  readNewestEvent,
} from './outdated-reading.ts';
import { readCurrentMatches } from './read-current-matches.ts';
import { saveMatch } from './save-matches.ts';
import { sha256 } from './verified-contract-identity.ts';
import { type Deployment, type VerifiedContract } from './verified-contract.ts';
import { withdrawMatch } from './withdraw-match.ts';

const CHAIN = 77;
const CODES = { x: Buffer.from('6001', 'hex'), y: Buffer.from('6002', 'hex') };
const CREATIONS: Record<'x' | 'y', Hex> = { x: `0x${'11'.repeat(32)}`, y: `0x${'22'.repeat(32)}` };
const CHANGED = { code: 'contract_changed' };

let testDatabase: TestDatabase;
let database: Database;
let addresses = 0;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
});
afterAll(() => testDatabase.drop());

const freshAddress = (): Hex => sampleAddress((addresses += 1));
/** A contract that this service verified; the full match is of another text. */
const verified = (
  address: Hex,
  code: keyof typeof CODES,
  match: 'full' | 'partial',
  more: Partial<VerifiedContract> & { madeBy?: keyof typeof CREATIONS } = {},
): VerifiedContract => {
  const { madeBy, ...rest } = more;
  const deployment: Deployment = {
    runtimeCode: CODES[code],
    ...(madeBy && { transactionHash: CREATIONS[madeBy], creationCode: CODES[madeBy] }),
  };
  return sampleContract(
    CHAIN,
    address,
    { runtimeMatch: match, ...(madeBy && { creationMatch: match }) },
    { variant: match === 'full' ? 1 : 0, origin: 'verified', deployment, ...rest },
  );
};
const withdrawX = (address: Hex, reason = CODE_REPLACED): Promise<unknown> =>
  withdrawMatch(database, { chainId: CHAIN, address, reason, runtimeCodeHash: sha256(CODES.x) });
const newestEvent = (address: Hex): Promise<string> => readNewestEvent(database, CHAIN, address);
const matchOf = async (address: Hex): Promise<unknown> =>
  (await readCurrentMatches(database, [{ chainId: CHAIN, address }]))[0]?.match;

describe('Outdated reading of a contract', () => {
  test('is rejected after its bytecode was withdrawn as replaced; a later one is stored', async () => {
    const address = freshAddress();
    await saveMatch(database, verified(address, 'x', 'partial'));
    const readAfterEvent = await newestEvent(address);
    await withdrawX(address);
    const outdated = verified(address, 'x', 'full', { readAfterEvent });
    await expect(saveMatch(database, outdated)).rejects.toMatchObject(CHANGED);
    expect(await matchOf(address)).toBeUndefined();
    const current = { ...outdated, readAfterEvent: await newestEvent(address) };
    expect(await saveMatch(database, current)).toMatchObject({ outcome: 'stored' });
  });

  test('is rejected after a match of other bytecode, whatever the match levels', async () => {
    for (const [stored, late] of [
      ['partial', 'full'],
      ['full', 'partial'],
    ] as const) {
      const address = freshAddress();
      const readAfterEvent = await newestEvent(address);
      await saveMatch(database, verified(address, 'y', stored));
      const outdated = verified(address, 'x', late, { readAfterEvent });
      await expect(saveMatch(database, outdated)).rejects.toMatchObject(CHANGED);
      expect(await matchOf(address)).toBe(stored);
    }
  });

  test.each([CREATION_REPLACED, CREATION_DISPROVED])(
    'is rejected after its creation was withdrawn as %s, unless it has another creation',
    async (reason) => {
      const address = freshAddress();
      await saveMatch(database, verified(address, 'x', 'partial', { madeBy: 'x' }));
      const readAfterEvent = await newestEvent(address);
      await withdrawX(address, reason);
      const outdated = verified(address, 'x', 'full', { madeBy: 'x', readAfterEvent });
      await expect(saveMatch(database, outdated)).rejects.toMatchObject(CHANGED);
      expect(await matchOf(address)).toBeUndefined();
      const other = verified(address, 'x', 'full', { madeBy: 'y', readAfterEvent });
      expect(await saveMatch(database, other)).toMatchObject({ outcome: 'stored' });
    },
  );

  test.each(['full', 'partial'] as const)(
    'is rejected once after another creation was stored, also for a %s match',
    async (match) => {
      const address = freshAddress();
      const readAfterEvent = await newestEvent(address);
      await saveMatch(database, verified(address, 'x', 'partial', { madeBy: 'y' }));
      const outdated = verified(address, 'x', match, { madeBy: 'x', readAfterEvent });
      await expect(saveMatch(database, outdated)).rejects.toMatchObject(CHANGED);
      const settled = { ...outdated, readAfterEvent: await newestEvent(address) };
      await expect(saveMatch(database, settled)).resolves.toBeDefined();
    },
  );

  test('is stored after the operator withdrew the match for other reasons', async () => {
    const address = freshAddress();
    await saveMatch(database, verified(address, 'x', 'partial'));
    const readAfterEvent = await newestEvent(address);
    await withdrawX(address, 'a mistake');
    const saved = await saveMatch(database, verified(address, 'x', 'full', { readAfterEvent }));
    expect(saved.outcome).toBe('stored');
  });

  test('is never stored after a concurrent withdrawal of its bytecode', async () => {
    for (let round = 0; round < 40; round += 1) {
      const address = freshAddress();
      await saveMatch(database, verified(address, 'x', 'partial'));
      const readAfterEvent = await newestEvent(address);
      await Promise.allSettled([
        saveMatch(database, verified(address, 'x', 'full', { readAfterEvent })),
        withdrawX(address),
      ]);
      expect(await matchOf(address)).toBeUndefined();
      const [last] = await database.query<{ reason: string }>(
        sql(
          'test newest event',
          'SELECT reason FROM match_events WHERE chain_id = $1 AND address = $2 ORDER BY id DESC LIMIT 1',
        ),
        [CHAIN, Buffer.from(address.slice(2), 'hex')],
      );
      expect(last?.reason).toBe(CODE_REPLACED);
    }
  });
});

test('a claim of other bytecode does not replace a match whose bytecode was read', async () => {
  const address = freshAddress();
  await saveMatch(database, verified(address, 'x', 'partial'));
  const claim = verified(address, 'y', 'full', { origin: 'imported' });
  expect(await saveMatch(database, claim)).toMatchObject({ outcome: 'unchanged' });
});

test('a match whose bytecode was read replaces a worse claim of other bytecode', async () => {
  const address = freshAddress();
  await saveMatch(database, verified(address, 'x', 'partial', { origin: 'imported' }));
  const readAfterEvent = await newestEvent(address);
  const saved = await saveMatch(database, verified(address, 'y', 'full', { readAfterEvent }));
  expect(saved.outcome).toBe('upgraded');
});

describe('Match of a contract that an import claims', () => {
  const claim = (address: Hex, match: 'full' | 'partial', variant: number): VerifiedContract =>
    sampleContract(CHAIN, address, { runtimeMatch: match }, { variant });
  const alternativesOf = (address: Hex): Promise<readonly unknown[]> =>
    database.query(
      sql(
        'test alternatives',
        'SELECT 1 FROM alternative_matches WHERE chain_id = $1 AND address = $2',
      ),
      [CHAIN, Buffer.from(address.slice(2), 'hex')],
    );

  test.each([
    ['full', 'another text'],
    ['partial', 'the same text'],
  ] as const)(
    'replaces an equal %s claim with %s, and is not replaced by claims',
    async (match, text) => {
      const address = freshAddress();
      const judged = verified(address, 'x', match);
      const claimed =
        text === 'another text'
          ? claim(address, match, 2)
          : verified(address, 'x', match, { origin: 'imported' });
      await saveMatch(database, claimed);
      const readAfterEvent = await newestEvent(address);
      expect(await saveMatch(database, { ...judged, readAfterEvent })).toMatchObject({
        outcome: 'upgraded',
      });
      const other = match === 'full' ? 3 : 2;
      for (const level of ['full', 'partial'] as const) {
        const later = await saveMatch(database, claim(address, level, other));
        expect(later).toMatchObject({ outcome: 'unchanged' });
      }
      expect((await readCurrentMatches(database, [{ chainId: CHAIN, address }]))[0]).toMatchObject({
        origin: 'verified',
        match,
      });
    },
  );

  test('that is partial replaces a partial claim with another text and stays', async () => {
    const address = freshAddress();
    await saveMatch(database, claim(address, 'partial', 2));
    expect(await saveMatch(database, verified(address, 'x', 'partial'))).toMatchObject({
      outcome: 'upgraded',
    });
    for (const match of ['partial', 'full'] as const) {
      expect(await saveMatch(database, claim(address, match, 3))).toMatchObject({
        outcome: 'unchanged',
      });
    }
    expect(await alternativesOf(address)).toHaveLength(0);
  });

  test('does not give way to a better claim if an alternative text was verified', async () => {
    const address = freshAddress();
    await saveMatch(database, verified(address, 'x', 'partial'));
    const settings = { other: true };
    const beside = verified(address, 'x', 'partial');
    const compilation = { ...beside.compilation, settings, metadata: '{"other":true}' };
    expect(await saveMatch(database, { ...beside, compilation })).toMatchObject({
      keptBeside: true,
    });
    // An earlier version kept verified texts in addition to a claim.
    await database.query(
      sql(
        'test claim',
        "UPDATE current_matches SET origin = 'imported', trust = 'claimed' WHERE chain_id = $1 AND address = $2",
      ),
      [CHAIN, Buffer.from(address.slice(2), 'hex')],
    );
    const better = verified(address, 'x', 'full', { origin: 'imported' });
    expect(await saveMatch(database, better)).toMatchObject({ outcome: 'unchanged' });
    expect(await alternativesOf(address)).toHaveLength(1);
    expect(await saveMatch(database, verified(address, 'x', 'full'))).toMatchObject({
      outcome: 'upgraded',
    });
    expect(await alternativesOf(address)).toHaveLength(0);
  });
});
