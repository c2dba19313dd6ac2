import { randomBytes } from 'node:crypto';
import { copyFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Secret } from '../src/lib/secret.ts';
import { silentLogger } from '../src/log.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { connectClient, targetOfUrl } from '../src/store/connection-target.ts';
import { sql, type Database } from '../src/store/database.ts';
import { migrate } from '../src/store/migrate.ts';
import { openStore } from '../src/store/open-store.ts';
import { testDatabaseUrl } from './support/global-setup.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { administer } from './support/test-database.ts';

const MIGRATIONS = path.resolve(import.meta.dirname, '../migrations');
const LAST_OF_EARLIER = '0007-totals.sql';

/** A match as an earlier version stored it. */
interface EarlierMatch {
  readonly address: number;
  readonly runtime: 'full' | 'partial' | null;
  readonly creation: 'full' | 'partial' | null;
  readonly metadata: string | null;
  readonly paths: readonly string[];
  readonly settings?: object;
  readonly artifacts?: object;
}

const metadataOf = (...paths: string[]): string =>
  JSON.stringify({ sources: Object.fromEntries(paths.map((each) => [each, {}])) });
const MATCHES: readonly EarlierMatch[] = [
  {
    address: 1,
    runtime: 'full',
    creation: null,
    metadata: metadataOf('a.sol'),
    paths: ['a.sol', 'AUDIT.sol', 'B.sol'],
  },
  {
    address: 2,
    runtime: 'partial',
    creation: null,
    metadata: metadataOf('b.sol'),
    paths: ['b.sol'],
  },
  { address: 3, runtime: null, creation: 'full', metadata: metadataOf('c.sol'), paths: ['c.sol'] },
  {
    address: 4,
    runtime: null,
    creation: 'partial',
    metadata: metadataOf('d.sol'),
    paths: ['d.sol'],
  },
  {
    address: 5,
    runtime: 'partial',
    creation: null,
    metadata: null,
    paths: ['e.yul', 'PLANT'],
    artifacts: { sources: { 'e.yul': { id: 0 } } },
  },
  { address: 6, runtime: 'partial', creation: null, metadata: null, paths: ['f.yul', 'UNKNOWN'] },
  { address: 7, runtime: 'partial', creation: null, metadata: 'not JSON', paths: ['g.sol'] },
  {
    address: 8,
    runtime: 'full',
    creation: 'full',
    metadata: metadataOf('h.sol'),
    paths: ['h.sol'],
    settings: { viaIR: true, auditedBy: 'somebody', outputSelection: { planted: {} } },
  },
];

const INSERT = `
  WITH stored_code AS (
    INSERT INTO code (code_hash, code_hash_keccak, code) SELECT sha256($1), sha256($1), $1 RETURNING code_hash
  ), pair AS (
    INSERT INTO contracts (id, runtime_code_hash) SELECT gen_random_uuid(), code_hash FROM stored_code RETURNING id
  ), known AS (
    INSERT INTO verified_codes (code_hash, chain_id) SELECT code_hash, 5 FROM stored_code
  ), deployment AS (
    INSERT INTO contract_deployments (id, chain_id, address, contract_id)
    SELECT gen_random_uuid(), 5, $2, id FROM pair RETURNING id
  ), compilation AS (
    INSERT INTO compiled_contracts (id, compiler, version, language, name, fully_qualified_name, compiler_settings,
      compilation_artifacts, runtime_code_hash, metadata, metadata_hash)
    SELECT gen_random_uuid(), 'solc', '0.8.37', 'solidity', 'A', 'a.sol:A', $3, $4, code_hash, $5,
      sha256(convert_to($5, 'UTF8')) FROM stored_code RETURNING id
  ), stored_source AS (
    INSERT INTO sources (source_hash, source_hash_keccak, content)
    SELECT sha256(convert_to(path, 'UTF8')), sha256(''), path FROM unnest($6::text[]) AS path
    RETURNING source_hash, content
  ), its_source AS (
    INSERT INTO compiled_contracts_sources (compilation_id, path, source_hash)
    SELECT compilation.id, content, source_hash FROM compilation, stored_source
  ), verified AS (
    INSERT INTO verified_contracts (deployment_id, compilation_id, runtime_match, runtime_metadata_match,
      creation_match, creation_metadata_match, code_reading)
    SELECT deployment.id, compilation.id, $7::match IS NOT NULL, $7::match = 'full', $8::match IS NOT NULL,
      $8::match = 'full', '{"blockNumber": 1}' FROM deployment, compilation RETURNING id
  ), shown AS (
    INSERT INTO current_matches (chain_id, address, runtime_match, creation_match, origin, verified_contract_id)
    SELECT 5, $2, $7, $8, 'verified', id FROM verified RETURNING *
  ), counted AS (
    INSERT INTO chain_counts AS counts (chain_id, full_match, partial_match)
    SELECT 5, (match = 'full')::int, (match = 'partial')::int FROM shown
    ON CONFLICT (chain_id) DO UPDATE SET full_match = counts.full_match + excluded.full_match,
      partial_match = counts.partial_match + excluded.partial_match
  )
  INSERT INTO match_events (kind, chain_id, address, match_after, runtime_match, creation_match, origin, verified_contract_id)
  SELECT 'stored', 5, $2, match, runtime_match, creation_match, 'verified', verified_contract_id FROM shown`;

const addressOf = (number: number): Buffer =>
  Buffer.from(number.toString(16).padStart(40, '0'), 'hex');

describe('data from an earlier version', () => {
  let temporary: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let client: Client;
  let database: Database;
  let close: () => Promise<void>;
  const name = `earlier_${randomBytes(6).toString('hex')}`;

  beforeAll(async () => {
    temporary = await createTemporaryFolder();
    await administer((admin) => admin.query(`CREATE DATABASE ${name}`));
    const url = new Secret(testDatabaseUrl(inject('testServer').socketFolder, name));
    client = await connectClient(targetOfUrl(url, 'fullmatch test'));
    for (const file of await readdir(MIGRATIONS)) {
      if (!/^\d/.test(file) || file > LAST_OF_EARLIER) continue;
      await copyFile(path.join(MIGRATIONS, file), path.join(temporary.path, file));
    }
    await migrate(client, { folder: temporary.path });
    for (const {
      address,
      metadata,
      paths,
      runtime,
      creation,
      settings = {},
      artifacts = {},
    } of MATCHES) {
      const values = [
        Buffer.from([address]),
        addressOf(address),
        settings,
        artifacts,
        metadata,
        paths,
      ];
      await client.query(INSERT, [...values, runtime, creation]);
    }
    const store = await openStore({ url, poolSize: 2, dataDir: tmpdir() }, silentLogger);
    ({ database } = store);
    close = () => store.close();
  });
  afterAll(async () => {
    await close();
    await client.end();
    await administer((admin) => admin.query(`DROP DATABASE ${name} WITH (FORCE)`));
    await temporary.remove();
  });

  const read = async <T extends object>(text: string): Promise<T[]> =>
    database.query<T>(sql(`test ${text.slice(0, 60)}`, text));

  test('keeps the listed sources of each compilation and sets the others aside', async () => {
    const rows = await read<{ paths: string }>(
      `SELECT string_agg(path, ' ' ORDER BY path COLLATE "C") AS paths FROM compiled_contracts_sources
       JOIN verified_contracts USING (compilation_id) GROUP BY verified_contracts.id ORDER BY verified_contracts.id`,
    );
    expect(rows.map(({ paths }) => paths)).toEqual([
      'a.sol',
      'b.sol',
      'c.sol',
      'd.sol',
      'e.yul',
      'UNKNOWN f.yul',
      'g.sol',
      'h.sol',
    ]);
    const aside = await read<{ path: string }>('SELECT path FROM set_aside_sources ORDER BY path');
    expect(aside.map(({ path: each }) => each).sort()).toEqual(['AUDIT.sol', 'B.sol', 'PLANT']);
  });

  test('keeps only settings that solc supports', async () => {
    const rows = await read(
      `SELECT compiler_settings, settings FROM compiled_contracts JOIN set_aside_settings ON compilation_id = compiled_contracts.id`,
    );
    expect(rows).toEqual([
      { compiler_settings: { viaIR: true }, settings: { auditedBy: 'somebody' } },
    ]);
  });

  test('records the changes as events', async () => {
    const rows = await read<{ number: string; kind: string; reason: string }>(
      `SELECT encode(substr(address, 20), 'hex') AS number, kind, reason FROM match_events
       WHERE kind <> 'stored' ORDER BY id`,
    );
    expect(rows.map(({ number, kind, reason }) => `${number} ${kind} ${reason}`)).toEqual([
      '01 corrected unlisted_sources_removed: 2',
      '05 corrected unlisted_sources_removed: 1',
      '08 corrected unknown_settings_removed: 1',
      '03 withdrawn creation_only',
      '04 withdrawn creation_only',
    ]);
  });

  test('stops counting matches of the creation bytecode alone, everywhere', async () => {
    expect(await read('SELECT full_match, partial_match FROM chain_counts')).toEqual([
      { full_match: '2', partial_match: '4' },
    ]);
    expect((await recount(database, { repair: false })).differences).toEqual([]);
  });

  test('records which source text is shown', async () => {
    const rows = await read(
      `SELECT count(*)::int AS unknown FROM current_matches WHERE text_hash IS NULL`,
    );
    expect(rows).toEqual([{ unknown: 0 }]);
  });
});
