import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MATCHER_VERSION } from '../src/bytecode/matcher-version.ts';
import { checksumAddress, type Hex } from '../src/lib/hex.ts';
import { type Match } from '../src/repository/matches/verified-contract.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { contractFolder, writeContract } from './support/example-tree.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { type CliRun, runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { sql } from '../src/store/database.ts';

const box = (comment: string, value = 5) =>
  inputOf({
    'B.sol': `// ${comment}\ncontract Box { function x() external pure returns (uint) { return ${value}; } }`,
  });

describeWith([ANVIL], 'fullmatch reverify', () => {
  let anvil: Anvil;
  let testDatabase: TestDatabase;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let trees = 0;

  beforeAll(async () => {
    [anvil, testDatabase, folder] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      createTestDatabase(),
      createTemporaryFolder(),
    ]);
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), configOf(anvil));
  });
  afterAll(async () => {
    await folder.remove();
    await anvil.stop();
    await testDatabase.drop();
  });

  const fullmatch = (...args: readonly string[]): Promise<CliRun> =>
    runInProcess(args, {
      environment: { DATABASE_URL: testDatabase.url },
      workingDirectory: folder.path,
    });
  /** Deploys a contract and imports a match of it that claims another input. */
  const claim = async (
    match: Match,
    claimed: ReturnType<typeof box>,
    { version = '0.8.37', options = [] as readonly string[] } = {},
  ) => {
    const { creationCode } = await compileAsDeveloper('0.8.37', box('true'), 'B.sol', 'Box');
    const { address } = await deploy(anvil, creationCode);
    const { metadata } = await compileAsDeveloper('0.8.37', claimed, 'B.sol', 'Box');
    const root = path.join(folder.path, `tree-${(trees += 1)}`);
    const place = { match, chainId: VERIFIED_CHAIN_ID, address: checksumAddress(address) };
    const sources = { 'B.sol': claimed.sources['B.sol']?.content ?? '' };
    const said = metadata.replaceAll('0.8.37+', `${version}+`);
    const template = { metadata: said, sources, facts: {}, name: 'Box', targetPath: 'B.sol' };
    await writeContract(contractFolder(root, place), template, { layout: 'v1' });
    expect((await fullmatch('import', root, ...options)).exitCode).toBe(0);
    return address;
  };
  const shownAt = async (address: Hex) => {
    const rows = await testDatabase.database.query(
      sql(
        'test shown match',
        'SELECT match, origin FROM current_matches WHERE chain_id = $1 AND address = $2',
      ),
      [VERIFIED_CHAIN_ID, Buffer.from(address.slice(2), 'hex')],
    );
    return rows[0];
  };
  const reverify = async (address: Hex): Promise<{ exitCode: number; outcome: unknown }> => {
    const run = await fullmatch('reverify', String(VERIFIED_CHAIN_ID), address, '--json');
    const { differences } = await recount(testDatabase.database, { repair: false });
    expect(differences).toEqual([]);
    return { exitCode: run.exitCode, outcome: (JSON.parse(run.stdout) as unknown[])[0] };
  };

  test.each<[string, Match, ReturnType<typeof box>, object, object | undefined]>([
    [
      'turns a true claim into a verified match',
      ...(['full', box('true')] as const),
      { outcome: 'verified', match: 'full' },
      { match: 'full', origin: 'verified' },
    ],
    [
      'does the same for a partial claim',
      ...(['partial', box('another comment')] as const),
      { outcome: 'verified', match: 'partial' },
      { match: 'partial', origin: 'verified' },
    ],
    [
      'stores a full match where only a partial one was claimed',
      ...(['partial', box('true')] as const),
      { outcome: 'verified', match: 'full' },
      { match: 'full', origin: 'verified' },
    ],
    [
      'stores a partial match if a claim of a full one is false',
      ...(['full', box('another comment')] as const),
      { outcome: 'claim_disproved', match: 'partial' },
      { match: 'partial', origin: 'verified' },
    ],
    [
      'withdraws a claim whose sources produce other bytecode',
      ...(['partial', box('true', 6)] as const),
      { outcome: 'claim_disproved', match: null },
      undefined,
    ],
  ])('%s', async (_what, match, claimed, outcome, shown) => {
    const address = await claim(match, claimed);
    const facts = { chainId: VERIFIED_CHAIN_ID, address: checksumAddress(address) };
    expect(await reverify(address)).toEqual({ exitCode: 0, outcome: { ...facts, ...outcome } });
    expect(await shownAt(address)).toEqual(shown);
    expect((await reverify(address)).outcome).toMatchObject({ outcome: 'not_claimed' });
  });

  test('runs after import --verify for the imported contracts and no others', async () => {
    const earlier = await claim('full', box('true'));
    const address = await claim('full', box('true'), { options: ['--verify', '--json'] });
    expect(await shownAt(address)).toEqual({ match: 'full', origin: 'verified' });
    expect(await shownAt(earlier)).toEqual({ match: 'full', origin: 'imported' });
  });

  test('runs after a repeated import --verify for all contracts of the source', async () => {
    const named = ['--source-name', 'tree.example'];
    const address = await claim('full', box('true'), { options: named });
    expect(await shownAt(address)).toEqual({ match: 'full', origin: 'imported' });
    const root = path.join(folder.path, `tree-${trees}`);
    expect((await fullmatch('import', root, ...named, '--verify')).exitCode).toBe(0);
    expect(await shownAt(address)).toEqual({ match: 'full', origin: 'verified' });
  });

  test('leaves a claim that cannot be compiled here and exits 75', async () => {
    const address = await claim('partial', box('of the future'), { version: '0.8.99' });
    expect(await reverify(address)).toMatchObject({
      exitCode: 75,
      outcome: { outcome: 'not_checked' },
    });
    expect(await shownAt(address)).toEqual({ match: 'partial', origin: 'imported' });
    const all = await fullmatch('reverify', '--all');
    expect(all.exitCode).toBe(75);
    expect(all.stdout).toContain('1 not_checked');
  });

  describe('with filters', () => {
    const run = async (...args: readonly string[]) => {
      const done = await fullmatch('reverify', String(VERIFIED_CHAIN_ID), ...args, '--json');
      const outcomes = JSON.parse(done.stdout) as { address: string; outcome: string }[];
      return { exitCode: done.exitCode, outcomes };
    };
    const change = (label: string, text: string, address: Hex) =>
      testDatabase.database.query<{ matcher_version: number | null }>(sql(`test ${label}`, text), [
        VERIFIED_CHAIN_ID,
        Buffer.from(address.slice(2), 'hex'),
      ]);
    const EVIDENCE = `verified_contracts WHERE id =
      (SELECT verified_contract_id FROM current_matches WHERE chain_id = $1 AND address = $2)`;

    test('by source and time verifies only those imports', async () => {
      const options = ['--source-name', 'example.org'];
      const address = await claim('full', box('true'), { options });
      await claim('full', box('true'), { options: ['--source-name', 'another.org'] });
      const later = new Date(Date.now() + 86_400_000).toISOString();
      for (const none of [
        ['--source', 'elsewhere'],
        ['--since', later],
      ]) {
        expect(await run(...none)).toEqual({ exitCode: 0, outcomes: [] });
      }
      const { outcomes } = await run('--source', 'example.org', '--since', '2020-01-01');
      expect(outcomes).toEqual([
        {
          ...{ chainId: VERIFIED_CHAIN_ID, address: checksumAddress(address) },
          ...{ outcome: 'verified', match: 'full' },
        },
      ]);
    });

    test('by older matcher reverifies matches of this service and changes none that differs', async () => {
      const [renewed, other] = [
        await claim('full', box('true')),
        await claim('partial', box('another comment')),
      ];
      for (const address of [renewed, other]) {
        expect((await reverify(address)).outcome).toMatchObject({ outcome: 'verified' });
      }
      const mine: readonly string[] = [renewed, other].map(checksumAddress);
      const again = async () => {
        const { exitCode, outcomes } = await run('--matcher-before', String(MATCHER_VERSION));
        return { exitCode, outcomes: outcomes.filter(({ address }) => mine.includes(address)) };
      };
      expect((await again()).outcomes).toEqual([]);
      const age = `UPDATE verified_contracts SET matcher_version = 1 WHERE id =
        (SELECT verified_contract_id FROM current_matches WHERE chain_id = $1 AND address = $2)`;
      for (const address of [renewed, other]) await change('age evidence', age, address);
      // As if an older matcher had stored it as a full match.
      const raise = `UPDATE current_matches SET runtime_match = 'full' WHERE chain_id = $1 AND address = $2`;
      await change('raise match', raise, other);
      const { exitCode, outcomes } = await again();
      expect(exitCode).toBe(6);
      expect(outcomes).toContainEqual(
        expect.objectContaining({ address: checksumAddress(renewed), outcome: 'verified' }),
      );
      expect(outcomes).toContainEqual(
        expect.objectContaining({ address: checksumAddress(other), outcome: 'differs' }),
      );
      expect(await shownAt(other)).toEqual({ match: 'full', origin: 'verified' });
      const read = `SELECT matcher_version FROM ${EVIDENCE}`;
      expect(await change('matcher', read, renewed)).toEqual([
        { matcher_version: MATCHER_VERSION },
      ]);
    });

    test.each([
      ['--since', 'soon'],
      ['--matcher-before', 'newest'],
    ])('rejects %s %s', async (option, value) => {
      const done = await fullmatch('reverify', '--all', option, value, '--json');
      expect(done.exitCode).toBe(1);
      expect(JSON.parse(done.stdout)).toMatchObject({ code: 'invalid_parameter' });
    });
  });
});
