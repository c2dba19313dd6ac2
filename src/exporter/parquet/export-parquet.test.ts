import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Secret } from '../../lib/secret.ts';
import { sequenceEvents } from '../../repository/repository.ts';
import { saveMatch } from '../../repository/matches/save-matches.ts';
import { withdrawMatch } from '../../repository/matches/withdraw-match.ts';
import { connectClient, targetOfUrl } from '../../store/connection-target.ts';
import { sql } from '../../store/database.ts';
import { readSnapshot } from '../../store/read-snapshot.ts';
import { readParquet, readParquetTypes } from '../../../test/support/read-parquet.ts';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTemporaryFolder } from '../../../test/support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { exportParquet, type ParquetOptions, type ParquetSummary } from './export-parquet.ts';
import { type ParquetManifest, readManifest } from './manifest.ts';

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let store: TestDatabase;
const at = (...names: readonly string[]): string => path.join(folder.path, ...names);
type Row = Readonly<Record<string, unknown>>;

async function run(
  name: string,
  options: Partial<ParquetOptions> = {},
  { url, database }: TestDatabase = store,
): Promise<ParquetSummary> {
  while (await sequenceEvents(database));
  const client = await connectClient(targetOfUrl(new Secret(url), 'fullmatch test'));
  try {
    return await readSnapshot([client], ([reader]) =>
      exportParquet({
        ...{ reader: reader!, folder: at(name), isWhole: false, version: '0', now: new Date(0) },
        ...{ signal: new AbortController().signal, onProgress: () => undefined, ...options },
      }),
    );
  } finally {
    await client.end();
  }
}
async function manifestOf(name: string): Promise<ParquetManifest> {
  const manifest = await readManifest(at(name));
  expect(manifest).toBeDefined();
  return manifest!;
}
async function rowsOf(name: string, table: string): Promise<readonly Row[]> {
  const files = (await manifestOf(name)).files.filter((file) => file.path.split('/')[1] === table);
  return (await Promise.all(files.map((file) => readParquet(at(name, file.path))))).flat();
}
async function filesIn(name: string): Promise<readonly string[]> {
  const entries = await readdir(at(name), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(at(name), path.join(entry.parentPath, entry.name)))
    .sort();
}
const sums = async (name: string): Promise<object> =>
  Object.fromEntries(
    Object.entries((await manifestOf(name)).tables).map(([table, { rows, checksum }]) => [
      ...[table, `${rows} ${checksum}`],
    ]),
  ) as object;
const save = (
  number: number,
  runtimeMatch: 'full' | 'partial' = 'partial',
  more: Parameters<typeof sampleContract>[3] = {},
): Promise<unknown> =>
  saveMatch(
    store.database,
    sampleContract(3, sampleAddress(number), { runtimeMatch }, { variant: number, ...more }),
  );

beforeAll(async () => {
  folder = await createTemporaryFolder();
});
afterAll(() => folder.remove());
beforeEach(async () => {
  store = await createTestDatabase();
  await save(1);
  await save(2, 'full', {
    deployment: {
      transactionHash: `0x${'ab'.repeat(32)}`,
      runtimeCode: Buffer.from('6001', 'hex'),
    },
    creation: { transformations: [], values: { constructorArguments: '0x01' } },
  });
  return () => store.drop();
});

describe('Parquet export', () => {
  test('has the standard tables, columns and types', async () => {
    await run('types');
    const types: Record<string, string> = {};
    for (const { path: file } of (await manifestOf('types')).files) {
      const columns = await readParquetTypes(at('types', file));
      types[file.split('/')[1]!] = columns.map((column) => column.join(' ')).join(', ');
    }
    const audit = 'created_at NANOS, updated_at NANOS, created_by UTF8, updated_by UTF8';
    expect(types).toMatchObject({
      code: `code_hash BYTE_ARRAY, code BYTE_ARRAY, code_hash_keccak BYTE_ARRAY, ${audit}`,
      contracts: `id UTF8, creation_code_hash BYTE_ARRAY, runtime_code_hash BYTE_ARRAY, ${audit}`,
      contract_deployments: `id UTF8, chain_id INT64, address BYTE_ARRAY, transaction_hash BYTE_ARRAY, block_number INT64, transaction_index INT32, deployer BYTE_ARRAY, contract_id UTF8, ${audit}`,
      compiled_contracts: `id UTF8, ${audit}, compiler UTF8, version UTF8, language UTF8, name UTF8, fully_qualified_name UTF8, compiler_settings UTF8, compilation_artifacts UTF8, creation_code_hash BYTE_ARRAY, creation_code_artifacts UTF8, runtime_code_hash BYTE_ARRAY, runtime_code_artifacts UTF8, additional_input UTF8`,
      compiled_contracts_sources:
        'id UTF8, compilation_id UTF8, source_hash BYTE_ARRAY, path UTF8, created_at NANOS',
      sources: `source_hash BYTE_ARRAY, source_hash_keccak BYTE_ARRAY, content UTF8, ${audit}`,
      verified_contracts: `id INT64, ${audit}, deployment_id UTF8, compilation_id UTF8, creation_match BOOLEAN, creation_values UTF8, creation_transformations UTF8, runtime_match BOOLEAN, runtime_values UTF8, runtime_transformations UTF8, runtime_metadata_match BOOLEAN, creation_metadata_match BOOLEAN`,
      sourcify_matches:
        'id INT64, verified_contract_id INT64, creation_match UTF8, runtime_match UTF8, created_at NANOS, updated_at NANOS, metadata UTF8',
    });
  });

  test('preserves NULL, microsecond timestamps and metadata bytes', async () => {
    const metadata = '{"a" : "\\u00e9 é",\t"b":1}';
    const { compilation } = sampleContract(3, sampleAddress(3), { runtimeMatch: 'full' });
    await save(3, 'full', { compilation: { ...compilation, metadata } });
    await run('values');
    const [first, second] = await rowsOf('values', 'verified_contracts');
    expect(first).toMatchObject({
      ...{ creation_match: false, creation_metadata_match: null, creation_values: null },
      ...{ runtime_match: true, runtime_metadata_match: false, runtime_values: '{}' },
    });
    // No comparison: the schema has no column for it.
    expect(second).toMatchObject({ creation_values: null, creation_transformations: null });
    const matches = await rowsOf('values', 'fullmatch_matches');
    expect(matches).toMatchObject([
      { match: 'partial', claimed_creation_values: null },
      { match: 'full', claimed_creation_values: '{"constructorArguments": "0x01"}' },
      { match: 'full' },
    ]);
    const [{ metadata: kept } = {}] = (await rowsOf('values', 'sourcify_matches')).slice(2);
    expect(kept).toBe(metadata);
    const [known] = await store.database.query<{ at: string }>(
      sql(
        'test time',
        'SELECT (extract(epoch FROM created_at) * 1000000)::bigint AS at FROM verified_contracts ORDER BY id',
      ),
    );
    expect(String(first?.['created_at'])).toBe(known?.at);
    const deployments = await rowsOf('values', 'contract_deployments');
    expect(deployments).toMatchObject([
      { block_number: null, transaction_hash: null },
      { block_number: null, transaction_hash: 'ab'.repeat(32) },
      {},
    ]);
  });

  test('represents unknown bytecode by the standard row', async () => {
    await run('unknown');
    const codes = await rowsOf('unknown', 'code');
    expect(codes).toMatchObject([
      { code_hash: '', code: null, code_hash_keccak: '' },
      { code: '6001' },
    ]);
    const [claimed, known] = await rowsOf('unknown', 'contract_deployments');
    const contracts = new Map(
      (await rowsOf('unknown', 'contracts')).map((row) => [row['id'], row]),
    );
    expect(contracts.get(claimed?.['contract_id'])).toMatchObject({ runtime_code_hash: '' });
    expect(contracts.get(known?.['contract_id'])).toMatchObject({
      ...{ creation_code_hash: null, runtime_code_hash: codes[1]?.['code_hash'] },
    });
  });

  test('lists its files with rows and hashes, and is reproducible', async () => {
    await run('first');
    await run('second');
    const manifest = await manifestOf('first');
    expect(await manifestOf('second')).toEqual(manifest);
    expect(await filesIn('first')).toEqual(
      ['manifest.json', ...manifest.files.map((file) => file.path)].sort(),
    );
    for (const { path: file, rows, bytes, sha256, minKey } of manifest.files) {
      const content = await readFile(at('first', file));
      expect([bytes, sha256]).toEqual([
        ...[content.length, createHash('sha256').update(content).digest('hex')],
      ]);
      expect(await readParquet(at('first', file))).toHaveLength(rows);
      expect(minKey?.[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]{15}Z$/);
    }
    expect(manifest).toMatchObject({ feedPosition: '2', chainId: null, withdrawn: 0 });
  });

  test('of one chain contains only its rows', async () => {
    await saveMatch(
      store.database,
      sampleContract(5, sampleAddress(1), { runtimeMatch: 'full' }, { variant: 9 }),
    );
    const summary = await run('chain', { chainId: 5 });
    expect(summary.chainId).toBe(5);
    expect(await rowsOf('chain', 'contract_deployments')).toMatchObject([{ chain_id: 5n }]);
    expect(await rowsOf('chain', 'compiled_contracts')).toHaveLength(1);
    await expect(run('chain')).rejects.toMatchObject({ code: 'export_path_unusable' });
  });
});

describe('Incremental export', () => {
  test.each([1, 2, 1000])(
    'with %d rows per full file writes only changes and keeps full files',
    async (rowsPerFile) => {
      const name = `growing-${rowsPerFile}`;
      await run(name, { rowsPerFile });
      const before = await manifestOf(name);
      expect((await run(name, { rowsPerFile })).tables['code']).toMatchObject({ written: 0 });
      expect((await manifestOf(name)).files).toEqual(before.files);
      // One compilation with known sources, and one that is known at another address.
      await save(3);
      await save(4, 'partial', { variant: 1 });
      const summary = await run(name, { rowsPerFile });
      expect(summary).toMatchObject({
        since: '2',
        tables: { verified_contracts: { written: 2, rows: 4 }, compiled_contracts: { written: 1 } },
      });
      const after = await manifestOf(name);
      for (const file of before.files) if (file.closed) expect(after.files).toContainEqual(file);
      expect(await filesIn(name)).toEqual(
        ['manifest.json', ...after.files.map((file) => file.path)].sort(),
      );
      await run(`${name}-fresh`, { rowsPerFile });
      expect(await sums(name)).toEqual(await sums(`${name}-fresh`));
      expect(after.files).toEqual((await manifestOf(`${name}-fresh`)).files);
    },
  );

  test.each([1, 1000])(
    'with %d rows per full file reports upgrades and withdrawals',
    async (rowsPerFile) => {
      const name = `changed-${rowsPerFile}`;
      await run(name, { rowsPerFile });
      await save(1, 'full');
      await withdrawMatch(store.database, {
        ...{ chainId: 3, address: sampleAddress(2), reason: 'a test' },
      });
      await run(name, { rowsPerFile });
      const newest = new Map<unknown, Row>();
      for (const row of await rowsOf(name, 'fullmatch_matches')) newest.set(row['address'], row);
      expect([...newest.values()]).toMatchObject([
        { kind: 'upgraded', match: 'full' },
        { kind: 'withdrawn', match: null, verified_contract_id: null, reason: 'a test' },
      ]);
      const verdicts = await rowsOf(name, 'verified_contracts');
      const levels = new Map(verdicts.map((row) => [row['id'], row['runtime_metadata_match']]));
      expect(levels.get(1n)).toBe(true);
      const manifest = await manifestOf(name);
      expect(manifest.withdrawn).toBe(1);
      expect(manifest.tables['verified_contracts']).toMatchObject(
        rowsPerFile === 1 ? { rows: 3, replaced: 1 } : { rows: 2, replaced: 0 },
      );
      const matches = await rowsOf(name, 'sourcify_matches');
      expect(matches.at(-1)).toMatchObject({ id: 1n, runtime_match: 'perfect' });
    },
  );

  test('rewrites the last file of a table if it was altered', async () => {
    await run('damaged', { rowsPerFile: 2 });
    const tail = (await manifestOf('damaged')).files.find(({ path: file }) =>
      file.startsWith('v2/sources/sources_2'),
    );
    await writeFile(at('damaged', tail!.path), 'damaged');
    await save(3);
    await run('damaged', { rowsPerFile: 2 });
    await run('damaged-fresh', { rowsPerFile: 2 });
    expect(await manifestOf('damaged')).toEqual(await manifestOf('damaged-fresh'));
  });

  test('resumes after an interruption', async () => {
    for (let number = 3; number < 9; number += 1) await save(number);
    await run('whole', { rowsPerFile: 2 });
    for (const [index, table] of ['sources', 'verified_contracts'].entries()) {
      const name = `cut-${table}`;
      if (index === 1) await run(name, { rowsPerFile: 2 });
      if (index === 1) for (let number = 9; number < 13; number += 1) await save(number);
      const cut = new AbortController();
      const onProgress: ParquetOptions['onProgress'] = (progress) => {
        if (progress.table === table && progress.rows > 0) cut.abort();
      };
      const stopped = run(name, { rowsPerFile: 2, signal: cut.signal, onProgress });
      await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
      const left = await readManifest(at(name), 'manifest.partial.json');
      expect(left?.files.length).toBeGreaterThan(0);
      await run(name, { rowsPerFile: 2 });
      await run(`${name}-fresh`, { rowsPerFile: 2 });
      expect(await manifestOf(name)).toEqual(await manifestOf(`${name}-fresh`));
      expect(await filesIn(name)).toEqual(await filesIn(`${name}-fresh`));
    }
  });

  const withdraw = (number: number): Promise<unknown> =>
    withdrawMatch(store.database, { chainId: 3, address: sampleAddress(number), reason: 'a test' });
  const newestOf = async (name: string, number: number): Promise<Row | undefined> =>
    (await rowsOf(name, 'fullmatch_matches')).findLast(
      (row) => row['address'] === sampleAddress(number).slice(2),
    );

  test('reports withdrawals of contracts in full files if the last file was altered', async () => {
    await save(3);
    await run('altered', { rowsPerFile: 2 });
    const matches = (await manifestOf('altered')).files.filter(({ path: file }) =>
      file.startsWith('v2/fullmatch_matches/'),
    );
    expect(matches.map(({ closed }) => closed)).toEqual([true, false]);
    await writeFile(at('altered', matches[1]!.path), 'damaged');
    await withdraw(1);
    await run('altered', { rowsPerFile: 2 });
    expect(await newestOf('altered', 1)).toMatchObject({ kind: 'withdrawn', match: null });
    expect(await newestOf('altered', 3)).toMatchObject({ kind: 'stored' });
  });

  test('reports withdrawals of contracts in full files of other tables', async () => {
    await run('others', { rowsPerFile: 3 });
    const { files } = await manifestOf('others');
    expect(files.some(({ closed }) => closed)).toBe(true);
    const matches = files.filter((file) => file.path.startsWith('v2/fullmatch_matches/'));
    expect(matches.map(({ closed }) => closed)).toEqual([false]);
    await writeFile(at('others', matches[0]!.path), 'damaged');
    await withdraw(1);
    await run('others', { rowsPerFile: 3 });
    expect(await newestOf('others', 1)).toMatchObject({ kind: 'withdrawn', match: null });
  });

  test('reports withdrawals of contracts in full files of an interrupted export', async () => {
    for (let number = 3; number < 6; number += 1) await save(number);
    const options = { rowsPerFile: 2, chainId: 3 };
    await run('stopped', options);
    // An interrupted first export leaves only a progress manifest.
    await rename(at('stopped', 'manifest.json'), at('stopped', 'manifest.partial.json'));
    await withdraw(1);
    await run('stopped', options);
    expect(await newestOf('stopped', 1)).toMatchObject({ kind: 'withdrawn', match: null });
  });

  test("rejects a folder with another database's export, foreign files or a missing full file", async () => {
    await run('own', { rowsPerFile: 1 });
    const other = await createTestDatabase();
    await saveMatch(other.database, sampleContract(3, sampleAddress(5), { runtimeMatch: 'full' }));
    const before = await manifestOf('own');
    await expect(run('own', {}, other)).rejects.toMatchObject({
      code: 'export_of_another_database',
    });
    expect(await manifestOf('own')).toEqual(before);
    await run('own', { isWhole: true }, other);
    expect(await rowsOf('own', 'verified_contracts')).toHaveLength(1);
    await other.drop();
    await mkdir(at('taken'));
    await writeFile(at('taken', 'notes.txt'), 'mine');
    await expect(run('taken')).rejects.toMatchObject({ code: 'export_path_unusable' });
    expect(await filesIn('taken')).toEqual(['notes.txt']);
    await run('lacking', { rowsPerFile: 1 });
    const closed = (await manifestOf('lacking')).files.find((file) => file.closed);
    await rm(at('lacking', closed!.path));
    await expect(run('lacking')).rejects.toMatchObject({ code: 'export_path_unusable' });
  });

  test('starts over on request', async () => {
    await run('anew');
    await withdrawMatch(store.database, {
      ...{ chainId: 3, address: sampleAddress(2), reason: 'a test' },
    });
    await run('anew', { isWhole: true });
    expect(await rowsOf('anew', 'fullmatch_matches')).toHaveLength(1);
    expect(await rowsOf('anew', 'compiled_contracts')).toHaveLength(1);
  });
});
