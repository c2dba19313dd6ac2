// Claims in the statistics of data from an earlier version, at schema level.
import { randomBytes } from 'node:crypto';
import { copyFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { Secret } from '../src/lib/secret.ts';
import { silentLogger } from '../src/log.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { readStatisticsHistory } from '../src/repository/statistics/statistics-history.ts';
import { readStatisticsOverview } from '../src/repository/statistics/statistics-overview.ts';
import { connectClient, targetOfUrl } from '../src/store/connection-target.ts';
import { migrate } from '../src/store/migrate.ts';
import { openStore } from '../src/store/open-store.ts';
import { testDatabaseUrl } from './support/global-setup.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { administer } from './support/test-database.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url));

/**
 * Nine matches, of which six are imported. Of these, one is later verified, one is withdrawn, and one is
 * upgraded from partial by a second import.
 */
const EARLIER = `
  INSERT INTO match_events (recorded_at, kind, chain_id, address, match_after, runtime_match, origin)
  SELECT now() - n * interval '1 day', 'stored', 1 + n % 2, substring(sha256(int4send(n)) FOR 20), match, match,
    (CASE WHEN n > 6 THEN 'verified' ELSE 'imported' END)::match_origin
  FROM (SELECT n, (CASE WHEN n = 3 THEN 'partial' ELSE 'full' END)::match AS match FROM generate_series(1, 9) AS n) AS given;
  INSERT INTO match_events (kind, chain_id, address, match_before, match_after, runtime_match, origin)
  SELECT 'upgraded', chain_id, address, match_after, 'full', 'full', (CASE id WHEN 1 THEN 'verified' ELSE 'imported' END)::match_origin
  FROM match_events WHERE id IN (1, 3);
  INSERT INTO match_events (kind, chain_id, address, match_before, origin, reason)
  SELECT 'withdrawn', chain_id, address, 'full', 'imported', 'test' FROM match_events WHERE id = 2;
  INSERT INTO feed (position, event_id) SELECT id, id FROM match_events;
  DELETE FROM feed_queue;
  UPDATE feed_followers SET position = 12;
  INSERT INTO current_matches (chain_id, address, runtime_match, origin, trust)
  SELECT chain_id, address, 'full', (CASE WHEN id = 1 THEN 'verified' ELSE origin END),
    (CASE WHEN id = 1 OR origin = 'verified' THEN 'verified' ELSE 'claimed' END)::match_trust
  FROM match_events WHERE kind = 'stored' AND id <> 2;
  INSERT INTO chain_counts (chain_id, full_match) SELECT chain_id, count(*) FROM current_matches GROUP BY chain_id;
  INSERT INTO chain_activity SELECT * FROM expected_activity;
  INSERT INTO daily_counts SELECT * FROM expected_daily_counts;
  INSERT INTO daily_totals SELECT * FROM expected_daily_totals;
  INSERT INTO hourly_totals SELECT * FROM expected_hourly_totals;
  INSERT INTO daily_falls (chain_id, day, reason, full_match, partial_match)
  SELECT chain_id, day, reason, full_match, partial_match FROM expected_daily_falls;
  INSERT INTO compiler_counts (chain_id, origin, trust, language, version, full_match, partial_match)
  SELECT chain_id, origin, trust, language, version, full_match, partial_match FROM expected_compiler_counts;`;

test('an upgrade counts the claims that are stored already', async () => {
  const temporary = await createTemporaryFolder();
  const name = `claims_${randomBytes(6).toString('hex')}`;
  await administer((admin) => admin.query(`CREATE DATABASE ${name}`));
  const url = new Secret(testDatabaseUrl(inject('testServer').socketFolder, name));
  const client = await connectClient(targetOfUrl(url, 'fullmatch test'));
  try {
    const files = (await readdir(MIGRATIONS)).filter((file) => /^\d/.test(file)).sort();
    for (const file of files.filter((each) => each < '0030')) {
      await copyFile(path.join(MIGRATIONS, file), path.join(temporary.path, file));
    }
    await migrate(client, { folder: temporary.path });
    await client.query(EARLIER);
    const store = await openStore({ url, poolSize: 2, dataDir: tmpdir() }, silentLogger);
    const { database } = store;
    const { chains, changes } = await readStatisticsOverview(database);
    expect(chains).toMatchObject([
      { chainId: 1, full: 3, claimed: { full: 2, partial: 0 } },
      { chainId: 2, full: 5, claimed: { full: 2, partial: 0 } },
    ]);
    expect(changes.day).toMatchObject({ claimed: { full: -1, partial: -1 } });
    const dayBefore = (days: number): string =>
      new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    const { points, withdrawals } = await readStatisticsHistory(database, {
      ...{ interval: 'day', from: dayBefore(10), to: dayBefore(0) },
    });
    expect(points.map(({ claimed }) => claimed.full + claimed.partial)).toEqual([
      ...[0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 4],
    ]);
    expect(withdrawals).toMatchObject([{ full: -1, claimed: { full: -1, partial: 0 } }]);
    const { differences } = await recount(database, { repair: false });
    expect(differences.filter(({ kind }) => kind !== 'row_against_evidence')).toEqual([]);
    await store.close();
  } finally {
    await client.end();
    await administer((admin) => admin.query(`DROP DATABASE ${name} WITH (FORCE)`));
    await temporary.remove();
  }
});
