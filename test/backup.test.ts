// `fullmatch backup` and `fullmatch restore`, on real PostgreSQL.
import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Readable } from 'node:stream';
import { extract, pack } from 'tar-stream';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { Secret } from '../src/lib/secret.ts';
import { silentLogger } from '../src/log.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { connectClient, targetOfUrl } from '../src/store/connection-target.ts';
import { sql } from '../src/store/database.ts';
import { migrate } from '../src/store/migrate.ts';
import { openSchema } from '../src/store/open-schema.ts';
import { fillContracts } from './support/fill-contracts.ts';
import { testDatabaseUrl } from './support/global-setup.ts';
import { runInProcess, type CliRun } from './support/run-cli.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { administer, createTestDatabase, type TestDatabase } from './support/test-database.ts';

interface Archive {
  readonly name: string;
  readonly content: Buffer;
}
interface Facts {
  readonly schemas: readonly {
    name: string;
    contracts: number;
    newestEvent: string;
    counts: object;
  }[];
  readonly rows: number;
}

const CONTRACTS = 200;

/** Lists the entries of a backup. */
async function unpack(file: string): Promise<Archive[]> {
  const archive = extract();
  Readable.from([gunzipSync(await readFile(file))]).pipe(archive);
  const entries: Archive[] = [];
  for await (const entry of archive)
    entries.push({ name: entry.header.name, content: await buffer(entry) });
  return entries;
}

async function packInto(file: string, entries: readonly Archive[]): Promise<void> {
  const archive = pack();
  for (const { name, content } of entries) archive.entry({ name }, content);
  archive.finalize();
  await writeFile(file, gzipSync(await buffer(archive)));
}

const endOf = async (file: string): Promise<unknown> =>
  JSON.parse((await unpack(file)).at(-1)?.content.toString() ?? '');

describe('backups', () => {
  let source: TestDatabase;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let whole: string;
  const empty: string[] = [];

  /** Creates a database without tables. */
  const createEmpty = async (): Promise<string> => {
    const name = `test_${randomBytes(6).toString('hex')}`;
    await administer((client) => client.query(`CREATE DATABASE ${name}`));
    empty.push(name);
    return testDatabaseUrl(inject('testServer').socketFolder, name);
  };
  const fullmatch = (url: string, ...args: readonly string[]): Promise<CliRun> =>
    runInProcess(args, { environment: { DATABASE_URL: url }, workingDirectory: folder.path });
  const onDatabase = async <T extends object>(url: string, text: string): Promise<T[]> => {
    const client = await connectClient(targetOfUrl(new Secret(url), 'a test'));
    try {
      return (await client.query<T>(text)).rows;
    } finally {
      await client.end();
    }
  };
  let files = 0;
  const backUp = async (url: string): Promise<{ file: string; facts: Facts }> => {
    const file = path.join(folder.path, `${(files += 1)}.tgz`);
    const run = await fullmatch(url, 'backup', file, '--json');
    expect(run.exitCode, run.stderr).toBe(0);
    return { file, facts: JSON.parse(run.stdout) as Facts };
  };

  beforeAll(async () => {
    [source, folder] = await Promise.all([createTestDatabase(), createTemporaryFolder()]);
    await fillContracts(source.database, CONTRACTS);
    await withdrawMatch(source.database, {
      chainId: 1,
      address: sampleAddress(1),
      reason: 'a test',
    });
    ({ file: whole } = await backUp(source.url));
  });
  afterAll(async () => {
    await source.drop();
    for (const name of empty)
      await administer((client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
    await folder.remove();
  });

  test('restore every row into an empty database, and the next backup is identical', async () => {
    const url = await createEmpty();
    const restored = await fullmatch(url, 'restore', whole, '--json');
    expect(restored.exitCode, restored.stderr).toBe(0);
    expect((JSON.parse(restored.stdout) as Facts).schemas[0]?.contracts).toBe(CONTRACTS - 1);
    const again = await backUp(url);
    expect(await endOf(again.file)).toEqual(await endOf(whole));
    const counted = await fullmatch(url, 'recount', '--json');
    expect(JSON.parse(counted.stdout)).toMatchObject({ contracts: CONTRACTS - 1, differences: [] });
    await expect(onDatabase(url, 'DELETE FROM match_events')).rejects.toThrow(/append-only/);
  });

  test('restore a database that continues where it left off', async () => {
    const target = await createTestDatabase();
    expect(await fullmatch(target.url, 'restore', whole)).toMatchObject({ exitCode: 0 });
    const [before] = await onDatabase<{ id: string }>(
      target.url,
      'SELECT max(id) AS id FROM match_events',
    );
    const saved = await saveMatch(
      target.database,
      sampleContract(9, sampleAddress(9_999), { runtimeMatch: 'full' }),
    );
    expect(Number(saved.eventNumber)).toBeGreaterThan(Number(before?.id));
    await target.drop();
  });

  test('are a consistent snapshot while other connections write', async () => {
    const busy = await createTestDatabase();
    let isOver = false;
    const storing = (async () => {
      for (let number = 1; !isOver; number += 1) {
        await saveMatch(
          busy.database,
          sampleContract(1 + (number % 3), sampleAddress(number), { runtimeMatch: 'full' }),
        );
      }
    })();
    await expect
      .poll(
        async () =>
          (
            await busy.database.query<{ n: number }>(
              sql('test count', 'SELECT count(*)::int AS n FROM match_events'),
            )
          )[0]?.n,
      )
      .toBeGreaterThan(20);
    const { file, facts } = await backUp(busy.url);
    isOver = true;
    await storing;
    const url = await createEmpty();
    expect(await fullmatch(url, 'restore', file)).toMatchObject({ exitCode: 0 });
    const counted = await fullmatch(url, 'recount', '--json');
    expect(JSON.parse(counted.stdout)).toMatchObject({
      contracts: facts.schemas[0]?.contracts,
      differences: [],
    });
    await busy.drop();
  });

  test('include unlisted contracts', async () => {
    const target = targetOfUrl(new Secret(source.url), 'a test');
    const pool = await openSchema(target, 'unlisted', 2, silentLogger);
    await saveMatch(pool.database, sampleContract(5, sampleAddress(77), { runtimeMatch: 'full' }));
    await pool.close();
    const { file, facts } = await backUp(source.url);
    expect(facts.schemas.map(({ name, contracts }) => [name, contracts])).toEqual([
      ['main', CONTRACTS - 1],
      ['unlisted', 1],
    ]);
    const url = await createEmpty();
    const restored = await fullmatch(url, 'restore', file);
    expect(restored.exitCode, restored.stderr).toBe(0);
    const counted = await fullmatch(url, 'recount', '--json');
    expect(JSON.parse(counted.stdout)).toMatchObject({
      ...{ contracts: CONTRACTS - 1, differences: [] },
      unlisted: { contracts: 1, differences: [] },
    });
  });

  test('of an older schema are migrated on restore', async () => {
    const older = await createEmpty();
    const client = await connectClient(targetOfUrl(new Secret(older), 'a test'));
    await migrate(client, { upTo: 20 });
    await client.query(
      `INSERT INTO code (code_hash, code_hash_keccak, code) VALUES (sha256('a'), sha256('b'), 'a')`,
    );
    await client.end();
    const { file } = await backUp(older);
    const [kept] = await onDatabase<{ newest: number }>(
      older,
      'SELECT max(number) AS newest FROM schema_migrations',
    );
    expect(kept?.newest).toBe(20);
    const url = await createEmpty();
    const restored = await fullmatch(url, 'restore', file);
    expect(restored.exitCode, restored.stderr).toBe(0);
    expect(await onDatabase(url, 'SELECT code FROM code WHERE code IS NOT NULL')).toEqual([
      { code: Buffer.from('a') },
    ]);
    const [newest] = await onDatabase<{ newest: number }>(
      url,
      'SELECT max(number) AS newest FROM schema_migrations',
    );
    expect(newest?.newest).toBeGreaterThan(20);
    // Only an untouched database accepts a restore.
    const target = await createTestDatabase();
    const refused = await fullmatch(target.url, 'restore', file, '--json');
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'backup_unusable' });
    await target.drop();
  });

  describe('rejected restores', () => {
    let target: TestDatabase;
    beforeEach(async () => {
      target = await createTestDatabase();
      return () => target.drop();
    });

    test.each<[string, (entries: Archive[]) => Archive[]]>([
      ['without its end', (entries) => entries.slice(0, -1)],
      ['without its manifest', (entries) => entries.slice(1)],
      [
        'with a missing row',
        (entries) =>
          entries.map((entry) =>
            entry.name.startsWith('rows/main/match_events')
              ? { ...entry, content: entry.content.subarray(entry.content.indexOf('\n') + 1) }
              : entry,
          ),
      ],
      [
        'with a byte changed',
        (entries) =>
          entries.map((entry) =>
            entry.name.startsWith('rows/main/sources/')
              ? {
                  ...entry,
                  content: Buffer.from(
                    entry.content.toString('latin1').replace('contract', 'contracx'),
                    'latin1',
                  ),
                }
              : entry,
          ),
      ],
      [
        'with an unknown table',
        (entries) => [
          ...entries.slice(0, -1),
          { name: 'rows/main/pg_authid/1', content: Buffer.from('x\n') },
          ...entries.slice(-1),
        ],
      ],
      [
        'with a path that leaves the archive',
        (entries) => [
          ...entries.slice(0, 1),
          { name: '../../etc/passwd', content: Buffer.from('x') },
          ...entries.slice(1),
        ],
      ],
      [
        'with an entry after its end',
        (entries) => [...entries, { name: 'rows/main/code/99', content: Buffer.from('x') }],
      ],
      [
        'in another format',
        (entries) =>
          entries.map((entry) =>
            entry.name === 'manifest.json'
              ? { ...entry, content: Buffer.from('{"format":"other"}') }
              : entry,
          ),
      ],
      [
        'with SQL in its manifest',
        (entries) =>
          entries.map((entry) =>
            entry.name === 'manifest.json'
              ? {
                  ...entry,
                  content: Buffer.from(
                    entry.content
                      .toString()
                      .replace('"name": "code"', '"name": "code; DROP TABLE feed"'),
                  ),
                }
              : entry,
          ),
      ],
    ])('a backup %s, which changes nothing', async (_name, change) => {
      const file = path.join(folder.path, `${(files += 1)}.tgz`);
      await packInto(file, change(await unpack(whole)));
      for (const args of [['--dry-run'], []]) {
        const run = await fullmatch(target.url, 'restore', file, ...args, '--json');
        expect(run.exitCode).toBe(1);
        expect(JSON.parse(run.stdout)).toMatchObject({ code: 'backup_unusable' });
      }
      const [row] = await onDatabase<{ rows: number }>(
        target.url,
        'SELECT count(*)::int AS rows FROM code WHERE code IS NOT NULL',
      );
      expect(row?.rows).toBe(0);
    });

    test('a backup truncated at any point', async () => {
      const bytes = await readFile(whole);
      const file = path.join(folder.path, 'cut.tgz');
      for (const part of [0, 0.1, 0.5, 0.9, 0.999]) {
        await writeFile(file, bytes.subarray(0, Math.floor(bytes.length * part)));
        const run = await fullmatch(target.url, 'restore', file, '--dry-run', '--json');
        expect(JSON.parse(run.stdout), String(part)).toMatchObject({ code: 'backup_unusable' });
      }
    });

    test('a database with events that the backup lacks, unless forced', async () => {
      const older = await createTestDatabase();
      expect(await fullmatch(older.url, 'restore', whole)).toMatchObject({ exitCode: 0 });
      const later = await connectClient(targetOfUrl(new Secret(older.url), 'a test'));
      await later.query(`INSERT INTO match_events (kind, chain_id, address, match_before, match_after, runtime_match, creation_match, origin, verified_contract_id)
        SELECT kind, chain_id, address, match_before, match_after, runtime_match, creation_match, origin, verified_contract_id FROM match_events ORDER BY id LIMIT 1`);
      await later.end();
      const refused = await fullmatch(older.url, 'restore', whole, '--json');
      expect(refused.exitCode).toBe(6);
      expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'backup_behind', events: 1 });
      const count = 'SELECT count(*)::int AS events FROM match_events';
      const [kept] = await onDatabase<{ events: number }>(older.url, count);
      // The refused restore changed nothing: the next event gets an id of its own.
      const [next] = await onDatabase<{ is_fresh: boolean }>(
        older.url,
        `SELECT nextval(pg_get_serial_sequence('match_events', 'id')) > max(id) AS is_fresh FROM match_events`,
      );
      expect(next?.is_fresh).toBe(true);
      expect(await fullmatch(older.url, 'restore', whole, '--discard-newer')).toMatchObject({
        exitCode: 0,
      });
      expect(await onDatabase(older.url, count)).toEqual([{ events: (kept?.events ?? 0) - 1 }]);
      await older.drop();
    });

    test('a database with unlisted contracts that the backup lacks, unless forced', async () => {
      const saveUnlisted = async (number: number): Promise<void> => {
        const of = targetOfUrl(new Secret(target.url), 'a test');
        const pool = await openSchema(of, 'unlisted', 2, silentLogger);
        const contract = sampleContract(5, sampleAddress(number), { runtimeMatch: 'full' });
        await saveMatch(pool.database, contract);
        await pool.close();
      };
      await saveUnlisted(1);
      const { file } = await backUp(target.url);
      await saveUnlisted(2);
      const refused = await fullmatch(target.url, 'restore', file, '--json');
      expect(refused.exitCode).toBe(6);
      expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'backup_behind', events: 1 });
      const count = 'SELECT count(*)::int AS contracts FROM unlisted.current_matches';
      expect(await onDatabase(target.url, count)).toEqual([{ contracts: 2 }]);
      const forced = await fullmatch(target.url, 'restore', file, '--discard-newer');
      expect(forced.exitCode, forced.stderr).toBe(0);
      expect(await onDatabase(target.url, count)).toEqual([{ contracts: 1 }]);
    });

    test('rows that PostgreSQL rejects, with its reason', async () => {
      const file = path.join(folder.path, `${(files += 1)}.tgz`);
      const [name, bad] = ['rows/main/code/1', Buffer.from('too\tfew\n')];
      const changed = (await unpack(whole)).flatMap((entry) =>
        entry.name === name
          ? [
              { name, content: bad },
              ...Array.from({ length: 20 }, (_, index) => ({
                ...{ name: `rows/main/code/${index + 2}`, content: Buffer.alloc(2 ** 20, 'x') },
              })),
            ]
          : [entry],
      );
      await packInto(file, changed);
      const run = await fullmatch(target.url, 'restore', file, '--json');
      expect(JSON.parse(run.stdout)).toMatchObject({ code: 'backup_unusable' });
      expect(run.stdout).toContain('missing data for column');
    });

    test('a database that a service is using', async () => {
      const service = await connectClient(targetOfUrl(new Secret(target.url), 'fullmatch'));
      const run = await fullmatch(target.url, 'restore', whole, '--json');
      expect(JSON.parse(run.stdout)).toMatchObject({ code: 'database_in_use' });
      expect(run.exitCode).toBe(75);
      await service.end();
    });
  });

  test('never overwrite a file and leave no partial file behind', async () => {
    const taken = path.join(folder.path, 'taken.tgz');
    await writeFile(taken, 'of somebody');
    const run = await fullmatch(source.url, 'backup', taken, '--json');
    expect(JSON.parse(run.stdout)).toMatchObject({ code: 'backup_not_written' });
    expect(await readFile(taken, 'utf8')).toBe('of somebody');
    const nowhere = await fullmatch(source.url, 'backup', 'no/such/folder.tgz', '--json');
    expect(JSON.parse(nowhere.stdout)).toMatchObject({ code: 'backup_not_written' });
    const stopped = await runInProcess(['backup', 'stopped.tgz'], {
      environment: { DATABASE_URL: source.url },
      workingDirectory: folder.path,
      signal: AbortSignal.abort(),
    });
    expect(stopped.exitCode).not.toBe(0);
    expect((await readdir(folder.path)).filter((name) => /partial|stopped/.test(name))).toEqual([]);
  });
});
