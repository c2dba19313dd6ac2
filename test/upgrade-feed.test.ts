// The feed over data from an earlier version, at schema level.
import { randomBytes } from 'node:crypto';
import { copyFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Secret } from '../src/lib/secret.ts';
import { silentLogger } from '../src/log.ts';
import { advanceFeed } from './support/advance-feed.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { connectClient, targetOfUrl } from '../src/store/connection-target.ts';
import { sql, type Database } from '../src/store/database.ts';
import { migrate } from '../src/store/migrate.ts';
import { openStore } from '../src/store/open-store.ts';
import { testDatabaseUrl } from './support/global-setup.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { administer } from './support/test-database.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url));

/** Events with gaps between their numbers, the resulting rows and counts, and the totals of a day in several slots. */
const EARLIER = `
  INSERT INTO match_events (kind, chain_id, address, match_after, runtime_match, origin)
  SELECT 'stored', 1 + n % 3, substring(sha256(int4send(n)) FOR 20), 'full', 'full', 'verified' FROM generate_series(1, 9) AS n;
  SELECT nextval('match_events_id_seq') FROM generate_series(1, 7);
  INSERT INTO match_events (kind, chain_id, address, match_before, origin, reason)
  SELECT 'withdrawn', chain_id, address, 'full', 'verified', 'test' FROM match_events WHERE id = 4;
  INSERT INTO match_events (kind, chain_id, reason) VALUES ('corrected', 1, 'test');
  INSERT INTO current_matches (chain_id, address, runtime_match, origin)
  SELECT chain_id, address, 'full', 'verified' FROM match_events WHERE kind = 'stored' AND id <> 4;
  INSERT INTO chain_counts (chain_id, full_match) SELECT chain_id, count(*) FROM current_matches GROUP BY chain_id;
  INSERT INTO chain_activity SELECT * FROM expected_activity;
  INSERT INTO daily_counts SELECT * FROM expected_daily_counts;
  INSERT INTO daily_totals (day, slot, full_match, partial_match)
  SELECT day, place, CASE place WHEN 0 THEN full_match + 2 ELSE -1 END, 0 FROM expected_daily_totals AS total
  CROSS JOIN (VALUES (0), (1), (5)) AS one (place);
  INSERT INTO hourly_totals (hour, slot, full_match, partial_match)
  SELECT hour, place, CASE place WHEN 0 THEN full_match + 2 ELSE -1 END, 0 FROM expected_hourly_totals AS total
  CROSS JOIN (VALUES (0), (1), (5)) AS one (place);
  INSERT INTO daily_falls (chain_id, day, reason, full_match, partial_match)
  SELECT chain_id, day, reason, full_match, partial_match FROM expected_daily_falls;
  INSERT INTO compiler_counts SELECT * FROM expected_compiler_counts;`;

describe('events from before the feed', () => {
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
    const files = (await readdir(MIGRATIONS)).filter((file) => /^\d/.test(file)).sort();
    const before = files.slice(
      0,
      files.findIndex((file) => file.endsWith('-feed.sql')),
    );
    for (const file of before) {
      await copyFile(path.join(MIGRATIONS, file), path.join(temporary.path, file));
    }
    await migrate(client, { folder: temporary.path });
    await client.query(EARLIER);
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
  const feed = async (): Promise<number[][]> =>
    (
      await read<{ position: string; event_id: string }>(
        'SELECT position, event_id FROM feed ORDER BY position',
      )
    ).map(({ position, event_id }) => [Number(position), Number(event_id)]);
  const differences = async () =>
    (await recount(database, { repair: false })).differences.filter(
      ({ kind }) => kind !== 'row_against_evidence',
    );
  const OLD = [1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 18];

  test('keep their numbers as positions, and the derived data is unchanged', async () => {
    expect(await feed()).toEqual(OLD.map((number) => [number, number]));
    expect(await read('SELECT event_id FROM feed_queue')).toEqual([]);
    expect(await read('SELECT name, position FROM feed_followers ORDER BY name')).toEqual([
      // Followers added by a later version begin with the first event.
      { name: 'known_codes', position: '0' },
      { name: 'names', position: '18' },
      { name: 'signatures', position: '0' },
      { name: 'statistics', position: '18' },
    ]);
    expect(await differences()).toEqual([]);
    expect(await read('SELECT full_match FROM daily_totals')).toEqual([{ full_match: '8' }]);
  });

  test('are continued without a gap', async () => {
    await read(`SELECT nextval('match_events_id_seq') FROM generate_series(1, 5)`);
    for (const number of [1, 2]) {
      await saveMatch(database, sampleContract(9, sampleAddress(number), { runtimeMatch: 'full' }));
    }
    await advanceFeed(database);
    expect((await feed()).slice(OLD.length)).toEqual([
      [19, 24],
      [20, 25],
    ]);
    expect(await differences()).toEqual([]);
    expect(await read(`SELECT full_match FROM daily_totals`)).toEqual([{ full_match: '10' }]);
  });
});
