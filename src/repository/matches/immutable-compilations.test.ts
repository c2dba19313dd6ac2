import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { runsOfSuite } from '../../../test/support/suite.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { sql, type Database } from '../../store/database.ts';
import { MAX_ALTERNATIVES } from './alternative-matches.ts';
import { recount } from '../statistics/recount.ts';
import { saveMatch, saveMatches } from './save-matches.ts';
import { compilationId } from './verified-contract-identity.ts';
import { type Match, type VerifiedContract } from './verified-contract.ts';
import { withdrawMatch } from './withdraw-match.ts';

let testDatabase: TestDatabase;
let database: Database;
let nextChain = 1000;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
});
afterAll(() => testDatabase.drop());

const freshChain = (): number => (nextChain += 1);
const address = sampleAddress(1);
const RUNTIME_CODE = Buffer.from('6001', 'hex');
const TRANSACTION = `0x${'ab'.repeat(32)}` as const;
const PARTIAL = { runtimeMatch: 'partial' } as const;
const WITH_CREATION = { runtimeMatch: 'partial', creationMatch: 'partial' } as const;

/** A contract verified by this service, with the text of a number. */
function judged(
  chainId: number,
  text: number,
  matches: { runtimeMatch?: Match | null; creationMatch?: Match | null } = PARTIAL,
): VerifiedContract {
  const runtimeCode = RUNTIME_CODE;
  const hasCreation = matches.creationMatch !== undefined && matches.creationMatch !== null;
  return sampleContract(chainId, address, matches, {
    variant: text,
    origin: 'verified',
    deployment: { runtimeCode, ...(hasCreation && { transactionHash: TRANSACTION }) },
  });
}

const SHOWN = sql(
  'test shown text',
  `SELECT content FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN compiled_contracts_sources USING (compilation_id) JOIN sources USING (source_hash)
   WHERE chain_id = $1 AND address = $2 AND path = 'contracts/Sample.sol'`,
);
async function shownText(chainId: number): Promise<number | undefined> {
  const [row] = await database.query<{ content: string }>(SHOWN, [
    chainId,
    Buffer.from(address.slice(2), 'hex'),
  ]);
  return row && Number(/v = (\d+)/.exec(row.content)?.[1]);
}
const KEPT = sql(
  'test kept texts',
  `SELECT metadata FROM alternative_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   WHERE chain_id = $1 ORDER BY recorded_at`,
);
async function keptTexts(chainId: number): Promise<readonly number[]> {
  const rows = await database.query<{ metadata: string }>(KEPT, [chainId]);
  return rows.map(({ metadata }) => (JSON.parse(metadata) as { variant: number }).variant);
}

describe('Compilation', () => {
  const edits: Readonly<
    Record<
      string,
      (compilation: VerifiedContract['compilation']) => Partial<VerifiedContract['compilation']>
    >
  > = {
    'another file': ({ sources }) => ({
      sources: [...sources, { path: 'contracts/AUDIT-by-somebody.sol', content: '// audited' }],
    }),
    'another path': ({ sources }) => ({
      sources: sources.map((source) => ({ ...source, path: `audited/${source.path}` })),
    }),
    'another setting': ({ settings }) => ({ settings: { ...settings, auditedBy: 'somebody' } }),
    'another name': () => ({ name: 'Audited', fullyQualifiedName: 'contracts/Sample.sol:Audited' }),
    'another version': () => ({ version: '0.8.36+commit.00000000' }),
    'other documentation': () => ({ artifacts: { abi: [], devdoc: { title: 'audited' } } }),
    'other places in the code': () => ({ runtimeCodeArtifacts: { immutableReferences: {} } }),
  };

  test.each(Object.entries(edits))(
    'with %s gets another id and leaves the stored one unchanged',
    async (_, edit) => {
      const chainId = freshChain();
      const first = judged(chainId, chainId, { runtimeMatch: 'full' });
      const before = JSON.stringify(await compilationsOf(chainId, first));
      const changed = { ...first.compilation, ...edit(first.compilation) };
      expect(compilationId(changed)).not.toBe(compilationId(first.compilation));
      await saveMatch(database, { ...first, address: sampleAddress(2), compilation: changed });
      expect(JSON.stringify(await compilationsOf(chainId))).toBe(before);
    },
  );

  const READ = sql(
    'test compilation of an address',
    `SELECT compiled_contracts.*, (
       SELECT jsonb_object_agg(path, encode(source_hash, 'hex')) FROM compiled_contracts_sources
       WHERE compilation_id = compiled_contracts.id) AS sources
     FROM current_matches JOIN verified_contracts ON verified_contracts.id = verified_contract_id
     JOIN compiled_contracts ON compiled_contracts.id = compilation_id WHERE chain_id = $1 AND address = $2`,
  );
  async function compilationsOf(chainId: number, save?: VerifiedContract): Promise<object[]> {
    if (save !== undefined) await saveMatch(database, save);
    return database.query(READ, [chainId, Buffer.from(address.slice(2), 'hex')]);
  }

  test('has the same id for any order of its keys and sources', () => {
    const { compilation } = judged(1, 1);
    expect(
      compilationId({
        ...compilation,
        settings: { optimizer: { runs: 200, enabled: true } },
        sources: compilation.sources.toReversed(),
      }),
    ).toBe(compilationId(compilation));
  });

  test('stored by many writers at once has its sources once', async () => {
    const chainId = freshChain();
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        saveMatch(database, { ...judged(chainId, 4711), address: sampleAddress(index) }),
      ),
    );
    const [row] = await database.query(
      sql(
        'test sources of a compilation',
        'SELECT count(*)::int AS sources FROM compiled_contracts_sources WHERE compilation_id = $1',
      ),
      [compilationId(judged(chainId, 4711).compilation)],
    );
    expect(row).toEqual({ sources: 2 });
  });

  test.each([
    [
      'a later source',
      `INSERT INTO compiled_contracts_sources (compilation_id, path, source_hash)
       SELECT compilation_id, 'late.sol', source_hash FROM compiled_contracts_sources LIMIT 1`,
    ],
    ['another path', `UPDATE compiled_contracts_sources SET path = 'other.sol'`],
    ['fewer sources', 'DELETE FROM compiled_contracts_sources'],
    ['another name', `UPDATE compiled_contracts SET name = 'Audited'`],
  ])('rejects %s at the database level', async (what, statement) => {
    await saveMatch(database, judged(freshChain(), 1));
    await expect(database.query(sql(`test tamper ${what}`, statement))).rejects.toMatchObject({
      code: 'database_error',
      details: { sqlstate: '23001' },
    });
  });
});

describe('Partial match', () => {
  test('keeps its text when another one names the creation, which becomes an alternative', async () => {
    const chainId = freshChain();
    await saveMatch(database, judged(chainId, 1));
    const saved = await saveMatch(database, judged(chainId, 2, WITH_CREATION));
    expect(saved).toEqual({ chainId, address, outcome: 'unchanged', keptBeside: true });
    expect([await shownText(chainId), await keptTexts(chainId)]).toEqual([1, [2]]);
  });

  test('gains its creation match from the same text', async () => {
    const chainId = freshChain();
    await saveMatch(database, judged(chainId, 1));
    expect((await saveMatch(database, judged(chainId, 1, WITH_CREATION))).outcome).toBe('upgraded');
    expect(await keptTexts(chainId)).toEqual([]);
  });

  test('gains no creation match from the same text with an unlisted file', async () => {
    const chainId = freshChain();
    await saveMatch(database, judged(chainId, 1));
    const more = judged(chainId, 1, WITH_CREATION);
    const sources = [...more.compilation.sources, { path: 'AUDIT.sol', content: '// audited' }];
    const saved = await saveMatch(database, {
      ...more,
      compilation: { ...more.compilation, sources, hasUnlistedSources: true },
    });
    expect(saved).toMatchObject({ outcome: 'unchanged', keptBeside: true });
  });

  test('keeps each alternative once, up to the limit', async () => {
    const chainId = freshChain();
    await saveMatch(database, judged(chainId, 0));
    for (const text of [1, 1, 2, 0, 3, 4, 5, 6]) await saveMatch(database, judged(chainId, text));
    const kept = await keptTexts(chainId);
    expect([kept, kept.length]).toEqual([[1, 2, 3, 4, 5], MAX_ALTERNATIVES]);
  });

  test('keeps no alternative with other bytecode or of an import', async () => {
    const chainId = freshChain();
    await saveMatch(database, judged(chainId, 0));
    const otherCode = { deployment: { runtimeCode: Buffer.from('6002', 'hex') } };
    for (const contract of [
      { ...judged(chainId, 1), ...otherCode },
      sampleContract(chainId, address, PARTIAL, { variant: 2 }),
    ]) {
      expect(await saveMatch(database, contract)).toEqual({
        chainId,
        address,
        outcome: 'unchanged',
      });
    }
    expect(await keptTexts(chainId)).toEqual([]);
  });

  test('is replaced by a full match, which drops all alternatives', async () => {
    const chainId = freshChain();
    await saveMatch(database, judged(chainId, 1));
    await saveMatch(database, judged(chainId, 2));
    await saveMatch(database, judged(chainId, 3, { runtimeMatch: 'full' }));
    await saveMatch(database, judged(chainId, 4));
    expect([await shownText(chainId), await keptTexts(chainId)]).toEqual([3, []]);
  });

  test('loses its alternatives when it is withdrawn', async () => {
    const chainId = freshChain();
    await saveMatches(database, [judged(chainId, 1), judged(chainId, 2)]);
    await withdrawMatch(database, { chainId, address, reason: 'test' });
    expect(await keptTexts(chainId)).toEqual([]);
    expect((await saveMatch(database, judged(chainId, 2))).outcome).toBe('stored');
  });

  test('racing with another text is either shown or kept as an alternative', async () => {
    for (let round = 0; round < 25; round += 1) {
      const chainId = freshChain();
      const saved = await Promise.all([
        saveMatch(database, judged(chainId, 1)),
        saveMatch(database, judged(chainId, 2, WITH_CREATION)),
      ]);
      expect(saved.map(({ outcome }) => outcome).sort()).toEqual(['stored', 'unchanged']);
      const first = saved[0].outcome === 'stored' ? 1 : 2;
      expect([await shownText(chainId), await keptTexts(chainId)]).toEqual([first, [3 - first]]);
    }
  });

  test('racing with a full match becomes neither shown nor an alternative', async () => {
    for (let round = 0; round < 25; round += 1) {
      const chainId = freshChain();
      await Promise.all([
        saveMatch(database, judged(chainId, 1, WITH_CREATION)),
        saveMatch(database, judged(chainId, 2, { runtimeMatch: 'full' })),
        saveMatch(database, judged(chainId, 3)),
      ]);
      expect([await shownText(chainId), await keptTexts(chainId)]).toEqual([2, []]);
    }
  });
});

describe('Shown text of an address', () => {
  const TEXTS = sql(
    'test texts of events',
    `SELECT kind, match_before, match_after, metadata AS text FROM match_events
     LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
     LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
     WHERE match_events.chain_id = $1 ORDER BY match_events.id`,
  );

  test('changes only on upgrade or withdrawal, even under concurrent writes', async () => {
    const step = fc.record({
      text: fc.integer({ min: 0, max: 6 }),
      matches: fc.constantFrom(PARTIAL, WITH_CREATION, { runtimeMatch: 'full' } as const),
      withdraw: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 16 }), async (steps) => {
        const chainId = freshChain();
        await Promise.all(
          steps.map(async ({ text, matches, withdraw }) => {
            // The metadata hash in the bytecode proves one text.
            const isFull = matches.runtimeMatch === 'full';
            await saveMatch(database, judged(chainId, isFull ? 0 : text, matches));
            if (withdraw) {
              await withdrawMatch(database, { chainId, address, reason: 'test' }).catch(
                () => undefined,
              );
            }
          }),
        );
        const events = await database.query<{
          kind: string;
          match_before: Match | null;
          match_after: Match | null;
          text: string;
        }>(TEXTS, [chainId]);
        events.forEach((event, index) => {
          const before = events[index - 1];
          if (event.kind !== 'upgraded' || event.match_after !== event.match_before) return;
          expect(event.text).toBe(before?.text);
        });
        expect((await keptTexts(chainId)).length).toBeLessThanOrEqual(MAX_ALTERNATIVES);
      }),
      { numRuns: runsOfSuite(25) },
    );
    expect((await recount(database, { repair: false })).differences).toEqual([]);
  });
});
