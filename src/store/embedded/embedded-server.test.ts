import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataDirectories } from '../../../test/support/data-directories.ts';
import { FullmatchError } from '../../errors.ts';
import { silentLogger } from '../../log.ts';
import { sql } from '../database.ts';
import { openStore } from '../open-store.ts';
import { isServerOn } from './lock-file.ts';

const ONE = sql('test: select one', 'SELECT 1 AS one');

const { cleanUp, open, openInProcess, temporaryDataDir, usedDataDir } = dataDirectories();

async function isGone(pid: number, dataDir: string): Promise<boolean> {
  return !(await isServerOn(pid, path.join(dataDir, 'postgres')));
}

describe('Embedded server', () => {
  test('is initialized and started, persists data and stops with its last user', async () => {
    const dataDir = await temporaryDataDir('data');
    const first = await open(dataDir);
    expect(first.server).toMatchObject({ embedded: true, joined: false });
    const [setting] = await first.database.query<Record<string, string>>(
      sql(
        'test: settings',
        `SELECT current_setting('fsync') AS fsync, current_setting('listen_addresses') AS addresses,
          current_setting('server_encoding') AS encoding, current_setting('data_checksums') AS checksums,
          current_setting('application_name') AS application`,
      ),
    );
    expect(setting).toEqual({
      fsync: 'on',
      addresses: '',
      encoding: 'UTF8',
      checksums: 'on',
      application: 'fullmatch',
    });
    await first.database.query(sql('test: create', 'CREATE TABLE kept AS SELECT 7 AS seven'));
    const pid = first.server.processId!;
    await first.close();
    expect(await isGone(pid, dataDir)).toBe(true);

    const second = await open(dataDir);
    expect(second.server.joined).toBe(false);
    expect(await second.database.query(sql('test: read', 'SELECT seven FROM kept'))).toEqual([
      { seven: 7 },
    ]);
  });

  test('uses the configured sizes', async () => {
    const dataDir = await usedDataDir();
    const size = { sharedBuffersBytes: 16 * 2 ** 20, maxConnections: 25 };
    const store = await openStore({ dataDir, poolSize: 1, ...size }, silentLogger);
    cleanUp(() => store.close());
    const settings = sql(
      'test: sizes',
      `SELECT current_setting('shared_buffers') AS buffers, current_setting('max_connections') AS connections`,
    );
    expect(await store.database.query(settings)).toEqual([{ buffers: '16MB', connections: '25' }]);
  });

  test('is joined by a second process and stops with the last one', async () => {
    const dataDir = await usedDataDir();
    const store = await open(dataDir);
    const other = await openInProcess(dataDir);
    expect(other.opened).toMatchObject({ joined: true, processId: store.server.processId });
    await store.close();
    expect(await isGone(other.opened.processId!, dataDir)).toBe(false);
    await other.close();
    expect(await isGone(other.opened.processId!, dataDir)).toBe(true);
  });

  test('survives killed processes, and the next one adopts and stops it', async () => {
    const dataDir = await usedDataDir();
    const first = await openInProcess(dataDir);
    const second = await openInProcess(dataDir);
    const { processId = 0 } = first.opened;
    expect(second.opened).toMatchObject({ joined: true, processId });
    await first.kill();
    await second.kill();
    const adopting = await open(dataDir);
    expect(adopting.server).toMatchObject({ joined: true, processId });
    expect(await adopting.database.query(ONE)).toEqual([{ one: 1 }]);
    await adopting.close();
    expect(await isGone(processId, dataDir)).toBe(true);
  });

  test('is restarted after PostgreSQL was killed while in use', async () => {
    const dataDir = await usedDataDir();
    const store = await open(dataDir);
    await store.database.query(sql('test: create', 'CREATE TABLE acknowledged (id integer)'));
    let acknowledged = 0;
    let stopped = false;
    const codes = new Set<string>();
    const write = async (): Promise<void> => {
      while (!stopped) {
        try {
          await store.database.transaction((transaction) =>
            transaction.query(sql('test: insert', 'INSERT INTO acknowledged VALUES (1)')),
          );
          acknowledged += 1;
        } catch (error) {
          codes.add(error instanceof FullmatchError ? error.code : String(error));
        }
      }
    };
    const writers = [write(), write(), write(), write()];
    const killed = store.server.processId!;
    await expect.poll(() => acknowledged).toBeGreaterThan(20);
    process.kill(killed, 'SIGKILL');
    await expect.poll(() => store.server.processId).not.toBe(killed);
    const before = acknowledged;
    await expect.poll(() => acknowledged).toBeGreaterThan(before + 20);
    stopped = true;
    await Promise.all(writers);
    const [count] = await store.database.query<{ n: string }>(
      sql('test: count', 'SELECT count(*) AS n FROM acknowledged'),
    );
    // A commit whose acknowledgement was lost may be there as well.
    expect(Number(count?.n)).toBeGreaterThanOrEqual(acknowledged);
    expect([...codes].filter((code) => code !== 'database_unreachable')).toEqual([]);
  });

  test('starts despite the lock file of a dead server', async () => {
    const dataDir = await usedDataDir();
    const killed = await openInProcess(dataDir);
    // While it runs, it restarts its server.
    killed.child.kill('SIGSTOP');
    process.kill(killed.opened.processId!, 'SIGKILL');
    await killed.kill();
    await expect.poll(() => isGone(killed.opened.processId!, dataDir)).toBe(true);
    const store = await open(dataDir);
    expect(store.server.joined).toBe(false);
    expect(await store.database.query(ONE)).toEqual([{ one: 1 }]);
  });

  test('logs to its data directory and reports the cause of a failed start', async () => {
    const dataDir = await usedDataDir();
    const log = await readFile(path.join(dataDir, 'postgres', 'server.log'), 'utf8');
    expect(log).toContain('database system is ready to accept connections');
    await rm(path.join(dataDir, 'postgres', 'global', 'pg_control'));
    const error = await open(dataDir).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'embedded_server_unavailable' });
    expect((error as FullmatchError).message).toContain('pg_control');
  });
});
