// `fullmatch import --from`: a database with the tables of the Verifier Alliance, with and without Sourcify's
// tables.
import { describe, expect, test } from 'vitest';
import { filesOf, FILE_SECTIONS, parseSections, readRecord } from '../src/repository/repository.ts';
import { MATCHER_VERSION } from '../src/bytecode/matcher-version.ts';
import { sql } from '../src/store/database.ts';
import { readStatistics, renderStatistics } from '../src/repository/statistics/statistics.ts';
import { type AllianceRow, CONTENT, TRANSACTION, WORD } from './support/alliance-database.ts';
import { useAllianceImport } from './support/alliance-import.ts';
import { sampleAddress } from './support/sample-contracts.ts';

const given = useAllianceImport();
const { fullmatch } = given;

async function load(...more: readonly string[]): Promise<{
  totals: Record<string, number>;
  refused: { path: string; reason: string }[];
}> {
  const run = await fullmatch('import', '--from', given.peer.url, '--json', ...more);
  expect(run.exitCode, run.stderr).toBe(0);
  return JSON.parse(run.stdout) as never;
}
const READ_TRUST = sql(
  'test trust',
  `SELECT current_matches.trust, source, matcher_version, contract_id IS NOT NULL AS is_code_read,
     claimed_block_number::int AS block, jsonb_array_length(runtime_transformations) AS transformations,
     claimed.runtime_code_hash IS NOT NULL AND claimed.runtime_code_hash <> '' AS has_runtime, are_codes_claimed
   FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   LEFT JOIN contracts AS claimed ON claimed.id = claimed_contract_id
   ORDER BY current_matches.address`,
);
/** Delivers the runtime bytecode as creation bytecode, which the sources do not produce. */
const deliverCreationCode = (): Promise<unknown> =>
  given.peer.client.query(
    `UPDATE contracts SET creation_code_hash = (SELECT creation_code_hash FROM compiled_contracts);
     UPDATE verified_contracts SET creation_values = '{}'`,
  );
const statistics = async (): Promise<unknown> =>
  JSON.parse(renderStatistics(await readStatistics(given.store.database)).toString('utf8'));

describe('a database with the tables of the Verifier Alliance and of Sourcify', () => {
  test('imports its matches with byte-identical metadata, sources and facts', async () => {
    await given.peer.addRow({ address: sampleAddress(1) });
    await given.peer.addRow({ address: sampleAddress(2), chainId: 10, runtime: 'partial' });
    expect((await load()).totals).toMatchObject({ stored: 2, refused: 0 });
    expect(await statistics()).toEqual({
      1: { full_match: 1, partial_match: 0 },
      10: { full_match: 0, partial_match: 1 },
    });
    const record = await readRecord(given.store.database, 1, sampleAddress(1), FILE_SECTIONS);
    const files = filesOf(parseSections(record!.sections));
    const contentOf = (name: string): string | undefined =>
      files.find(({ path }) => path === name)?.content;
    expect(contentOf('metadata.json')).toBe(given.peer.metadata);
    expect(contentOf('creator-tx-hash.txt')).toBe(TRANSACTION);
    expect(contentOf('constructor-args.txt')).toBe(WORD);
    expect(
      files.some(({ path, content }) => path.startsWith('sources/') && content === CONTENT),
    ).toBe(true);
    expect((await load()).totals).toMatchObject({ stored: 0, unchanged: 2 });
  });

  test('imports the best match of an address, full if only its creation match is full', async () => {
    await given.peer.addRow({ address: sampleAddress(1), runtime: 'partial' });
    await given.peer.addRow({ address: sampleAddress(1), runtime: 'perfect' });
    await given.peer.addRow({ address: sampleAddress(2), runtime: 'partial', creation: 'perfect' });
    await load();
    expect(await statistics()).toEqual({ 1: { full_match: 2, partial_match: 0 } });
  });

  test.each<{ what: string; row: Omit<AllianceRow, 'address'>; reason: string }>([
    {
      what: 'whose creation bytecode alone matches',
      row: { runtime: null, creation: 'perfect' },
      reason: 'no_runtime_match',
    },
    {
      what: 'with different on-chain bytecode',
      row: { change: (code) => (code.writeUInt8(1, 9), code) },
      reason: 'codes_differ',
    },
    { what: 'without its transformations', row: { transformations: [] }, reason: 'codes_differ' },
    {
      what: 'with invalid transformations',
      row: { transformations: { a: 1 } },
      reason: 'codes_differ',
    },
    {
      what: 'with a transformation outside the bytecode',
      row: { transformations: [{ type: 'replace', reason: 'immutable', offset: 9e9, id: '3' }] },
      reason: 'codes_differ',
    },
    {
      what: 'whose metadata differs from that of its bytecode',
      row: { metadata: '{"compiler":{"version":"0.8.30"}}' },
      reason: 'wrong_metadata_hash',
    },
  ])('a row $what is rejected by name', async ({ row, reason }) => {
    await given.peer.addRow({ address: sampleAddress(1), ...row });
    await given.peer.addRow({ address: sampleAddress(2) });
    const { totals, refused } = await load();
    expect(totals).toMatchObject({ stored: 1, refused: 1 });
    expect(refused).toMatchObject([{ path: 'verified_contracts/1', reason, chainId: 1 }]);
  });

  test('skips rows with invalid JSON or missing required fields and imports the others', async () => {
    await given.peer.addRow({ address: sampleAddress(1) });
    await given.peer.addRow({ address: sampleAddress(2) });
    await given.peer.client.query(
      `ALTER TABLE verified_contracts ALTER runtime_values TYPE text USING runtime_values::text;
       UPDATE verified_contracts SET runtime_values = '{' WHERE id = 1`,
    );
    const { totals, refused } = await load();
    expect(totals).toMatchObject({ stored: 1, refused: 1 });
    expect(refused).toMatchObject([{ path: 'verified_contracts/1', reason: 'broken_row' }]);
    await given.peer.client.query(
      `ALTER TABLE compiled_contracts ALTER version DROP NOT NULL;
       UPDATE compiled_contracts SET version = NULL`,
    );
    await given.peer.addRow({ address: sampleAddress(3) });
    expect((await load()).refused.map(({ reason }) => reason)).toContain('broken_row');
  });

  test('imports claims if the on-chain bytecode is missing, and no transaction for a genesis contract', async () => {
    await given.peer.addRow({
      address: sampleAddress(1),
      isCodeUnknown: true,
      runtime: 'partial',
      blockNumber: -1,
    });
    expect((await load('--dry-run')).totals).toMatchObject({ stored: 1 });
    expect(await statistics()).toEqual({});
    expect((await load()).totals).toMatchObject({ stored: 1 });
    const record = await readRecord(given.store.database, 1, sampleAddress(1), ['deployment']);
    expect(parseSections(record!.sections).deployment?.transactionHash).toBeUndefined();
  });

  test('rechecks what it delivers, records its origin and keeps its evidence', async () => {
    await given.peer.addRow({ address: sampleAddress(1) });
    await given.peer.addRow({ address: sampleAddress(2), isCodeUnknown: true, runtime: 'partial' });
    const unexplained = [{ type: 'replace', reason: 'library', offset: 0, id: 'x' }];
    await given.peer.addRow({
      address: sampleAddress(3),
      transformations: unexplained,
      isCodeUnknown: true,
    });
    await load('--source-name', 'peer.example');
    const rows = await given.store.database.query(READ_TRUST);
    expect(rows).toMatchObject([
      {
        ...{
          trust: 'rechecked',
          source: 'peer.example',
          matcher_version: MATCHER_VERSION,
          is_code_read: false,
        },
        ...{ block: 5, transformations: 1, has_runtime: true, are_codes_claimed: true },
      },
      { trust: 'claimed', source: 'peer.example', matcher_version: null, has_runtime: false },
      { trust: 'claimed' },
    ]);
    const bad = await fullmatch(
      'import',
      '--from',
      given.peer.url,
      '--source-name',
      '/etc/tree',
      '--json',
    );
    expect(JSON.parse(bad.stdout)).toMatchObject({ code: 'invalid_parameter' });
  });

  test('rechecks no full match whose metadata hash is compared with no bytecode', async () => {
    const metadata = given.peer.metadata.replace('"runs":200', '"runs":201');
    const match = { runtime: 'partial', creation: 'perfect' } as const;
    await given.peer.addRow({ address: sampleAddress(1), ...match, metadata });
    await deliverCreationCode();
    await load();
    expect(await given.store.database.query(READ_TRUST)).toMatchObject([{ trust: 'claimed' }]);
  });

  test('requires the metadata hash if the metadata names Solidity, whatever the row names', async () => {
    const metadata = given.peer.metadata.replace('"runs":200', '"runs":201');
    await given.peer.addRow({ address: sampleAddress(1), metadata });
    await given.peer.client.query(`UPDATE compiled_contracts SET language = 'vyper'`);
    expect((await load()).refused).toMatchObject([{ reason: 'wrong_metadata_hash' }]);
  });

  test('takes the ABI from the metadata, which the code proves, and not from the row', async () => {
    await given.peer.addRow({ address: sampleAddress(1) });
    await given.peer.client.query(
      `UPDATE compiled_contracts SET compilation_artifacts = '{"abi": [], "sources": {}, "storageLayout": {"types": {}}}'`,
    );
    await load();
    const record = await readRecord(given.store.database, 1, sampleAddress(1), ['artifacts']);
    const { artifacts } = parseSections(record!.sections);
    const { output } = JSON.parse(given.peer.metadata) as { output: { abi: unknown } };
    expect(artifacts).toMatchObject({ abi: output.abi, storageLayout: { types: {} } });
  });

  test('a compilation raises no match whose creation bytecode differs', async () => {
    await given.peer.addRow({ address: sampleAddress(1), creation: 'perfect' });
    await deliverCreationCode();
    await load();
    expect(await given.store.database.query(READ_TRUST)).toMatchObject([{ trust: 'rechecked' }]);
    const run = await fullmatch('reverify', '--all', '--recompile', '--json');
    expect(JSON.parse(run.stdout)).toMatchObject([{ outcome: 'differs' }]);
    expect(await given.store.database.query(READ_TRUST)).toMatchObject([{ trust: 'rechecked' }]);
  });

  test('a second import rechecks what a tree only claimed', async () => {
    await given.peer.addRow({ address: sampleAddress(1) });
    await load();
    await given.store.database.query(
      sql('test claim', "UPDATE current_matches SET trust = 'claimed'"),
    );
    expect((await load('--dry-run')).totals).toMatchObject({ upgraded: 1 });
    expect(await given.store.database.query(READ_TRUST)).toMatchObject([{ trust: 'claimed' }]);
    expect((await load()).totals).toMatchObject({ upgraded: 1 });
    expect((await load()).totals).toMatchObject({ unchanged: 1 });
    expect(await given.store.database.query(READ_TRUST)).toMatchObject([{ trust: 'rechecked' }]);
  });

  test('imports no bytecode, since this service has not read it from a chain', async () => {
    await given.peer.addRow({ address: sampleAddress(1) });
    await load();
    const record = await readRecord(given.store.database, 1, sampleAddress(1), ['runtimeCode']);
    const { runtimeCode } = parseSections(record!.sections);
    expect(runtimeCode?.onChain).toBeUndefined();
    expect(runtimeCode?.recompiled).toBeUndefined();
  });
});

describe('a database with other tables', () => {
  test('without metadata produces full matches with derived metadata that the bytecode proves', async () => {
    await given.peer.addRow({ address: sampleAddress(1) });
    await given.peer.addRow({ address: sampleAddress(2), runtime: 'partial' });
    await given.peer.client.query('DROP TABLE sourcify_matches');
    expect((await load()).totals).toMatchObject({ stored: 2, refused: 0 });
    expect(await statistics()).toEqual({ 1: { full_match: 1, partial_match: 1 } });
    const record = await readRecord(given.store.database, 1, sampleAddress(1), FILE_SECTIONS);
    const files = filesOf(parseSections(record!.sections));
    expect(files.find(({ path }) => path === 'metadata.json')?.content).toBe(given.peer.metadata);
  });

  test.each([
    ['without Sourcify’s tables', 'DROP TABLE sourcify_matches'],
    ['whose metadata is null', 'UPDATE sourcify_matches SET metadata = NULL'],
  ])(
    '%s produces a partial match if the bytecode does not prove the derived metadata',
    async (_, change) => {
      await given.peer.addRow({ address: sampleAddress(1) });
      await given.peer.client.query(
        `${change}; UPDATE compiled_contracts SET compiler_settings = '{"optimizer": {"runs": 7}}'`,
      );
      expect((await load('--dry-run')).totals).toMatchObject({ stored: 1, refused: 0 });
      expect((await load()).totals).toMatchObject({ stored: 1, refused: 0 });
      expect(await statistics()).toEqual({ 1: { full_match: 0, partial_match: 1 } });
      expect((await load('--dry-run')).totals).toMatchObject({ stored: 0, unchanged: 1 });
      expect((await load()).totals).toMatchObject({ stored: 0, unchanged: 1 });
    },
  );

  test('is rejected with the missing tables named and without its password', async () => {
    await given.peer.client.query('DROP TABLE sourcify_matches, verified_contracts');
    const run = await fullmatch('import', '--from', given.peer.url, '--json');
    expect(JSON.parse(run.stdout)).toMatchObject({
      code: 'import_path_unusable',
      missing: ['verified_contracts'],
    });
    const wrong = await fullmatch(
      'import',
      '--from',
      'postgres://me:hidden@127.0.0.1:1/x',
      '--json',
    );
    expect(JSON.parse(wrong.stdout)).toMatchObject({ code: 'database_unreachable' });
    expect(`${wrong.stdout}${wrong.stderr}`).not.toContain('hidden');
    const bare = await fullmatch('import', '--from', 'me:hidden@127.0.0.1/x', '--json');
    expect(bare.exitCode).toBe(1);
    expect(`${bare.stdout}${bare.stderr}`).not.toContain('hidden');
    const none = await fullmatch('import', '--from', 'ftp://example.org/', '--json');
    expect(JSON.parse(none.stdout)).toMatchObject({ code: 'invalid_configuration' });
    const both = await fullmatch('import', 'tree', '--from', given.peer.url, '--json');
    expect(JSON.parse(both.stdout)).toMatchObject({ code: 'import_path_unusable' });
  });
});
