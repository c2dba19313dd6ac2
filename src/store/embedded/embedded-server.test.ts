import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openStoreProcess, type StoreProcess } from '../../../test/support/open-store-process.ts';
import { createTemporaryFolder } from '../../../test/support/temporary-folder.ts';
import { writeUsedData } from '../../../test/support/used-data.ts';
import { FullmatchError } from '../../errors.ts';
import { silentLogger } from '../../log.ts';
import { sql } from '../database.ts';
import { readLockFile, runsOn } from './lock-file.ts';
import { openStore, type Store } from '../open-store.ts';
import { ensureSystemUser, isRoot, SYSTEM_FOLDER } from './system-user.ts';

const ONE = sql('test: select one', 'SELECT 1 AS one');
const NOBODY = { uid: 65_534, gid: 65_534 };

const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A data directory whose server, should a test leave one, is killed with it. */
async function temporaryDataDir(...names: string[]): Promise<string> {
  const folder = await createTemporaryFolder();
  const dataDir = path.join(folder.path, ...names);
  cleanUps.push(async () => {
    await killServer(path.join(dataDir, 'postgres'));
    await folder.remove();
  });
  return dataDir;
}

async function usedDataDir(): Promise<string> {
  const dataDir = await temporaryDataDir('data');
  await writeUsedData(dataDir);
  return dataDir;
}

async function run(command: string, ...parameters: string[]): Promise<void> {
  const [code] = (await once(spawn(command, parameters), 'exit')) as [number | null];
  expect(code).toBe(0);
}

async function killServer(data: string): Promise<void> {
  const lock = await readLockFile(data);
  if (lock !== undefined && (await runsOn(lock.pid, data))) process.kill(lock.pid, 'SIGKILL');
}

async function open(dataDir: string): Promise<Store> {
  const store = await openStore({ dataDir, poolSize: 4 }, silentLogger);
  cleanUps.push(() => store.close());
  return store;
}

async function openInProcess(dataDir: string, user = {}): Promise<StoreProcess> {
  const opened = await openStoreProcess(dataDir, user);
  cleanUps.push(() => opened.kill());
  return opened;
}

async function isGone(pid: number, dataDir: string): Promise<boolean> {
  return !(await runsOn(pid, path.join(dataDir, 'postgres')));
}

describe('the embedded server', () => {
  test('is initialised and started, keeps what was stored, and is stopped with its last user', async () => {
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

  test('is as large as it is told', async () => {
    const dataDir = await usedDataDir();
    const size = { sharedBuffersBytes: 16 * 2 ** 20, maxConnections: 25 };
    const store = await openStore({ dataDir, poolSize: 1, ...size }, silentLogger);
    cleanUps.push(() => store.close());
    const settings = sql(
      'test: sizes',
      `SELECT current_setting('shared_buffers') AS buffers, current_setting('max_connections') AS connections`,
    );
    expect(await store.database.query(settings)).toEqual([{ buffers: '16MB', connections: '25' }]);
  });

  test('is joined by a second process, and stops only with the last one', async () => {
    const dataDir = await usedDataDir();
    const store = await open(dataDir);
    const other = await openInProcess(dataDir);
    expect(other.opened).toMatchObject({ joined: true, processId: store.server.processId });
    await store.close();
    expect(await isGone(other.opened.processId!, dataDir)).toBe(false);
    await other.close();
    expect(await isGone(other.opened.processId!, dataDir)).toBe(true);
  });

  test('outlives the processes that are killed, and the next adopts it and stops it', async () => {
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

  test('is made once when several are first at the same time', async () => {
    const dataDir = await temporaryDataDir('data');
    const stores = await Promise.all([
      open(dataDir),
      open(dataDir),
      open(dataDir),
      openInProcess(dataDir).then((other) => other.opened.processId),
    ]);
    const ids = stores.map((store) => (typeof store === 'object' ? store.server.processId : store));
    expect(new Set(ids).size).toBe(1);
    expect(await readdir(dataDir)).toEqual(['postgres']);
  });

  test('serves a user who comes while the last one stops it', async () => {
    const dataDir = await usedDataDir();
    let store = await open(dataDir);
    for (let round = 0; round < 8; round += 1) {
      const [next] = await Promise.all([open(dataDir), store.close()]);
      expect(await next.database.query(ONE)).toEqual([{ one: 1 }]);
      store = next;
    }
  });

  test('is brought back after PostgreSQL was killed under use', async () => {
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

  test('starts over the lock file of a server that is dead', async () => {
    const dataDir = await usedDataDir();
    const killed = await openInProcess(dataDir);
    // While it runs, it brings its server back.
    killed.child.kill('SIGSTOP');
    process.kill(killed.opened.processId!, 'SIGKILL');
    await killed.kill();
    await expect.poll(() => isGone(killed.opened.processId!, dataDir)).toBe(true);
    const store = await open(dataDir);
    expect(store.server.joined).toBe(false);
    expect(await store.database.query(ONE)).toEqual([{ one: 1 }]);
  });

  test('starts over a lock file whose process id another program has by now', async () => {
    const dataDir = await usedDataDir();
    const data = path.join(dataDir, 'postgres');
    const { uid, gid } = await stat(data);
    const sleeper = spawn('sleep', ['60'], { cwd: '/', ...(isRoot() ? { uid, gid } : {}) });
    cleanUps.push(async () => void sleeper.kill());
    const stale = `${sleeper.pid ?? 0}\n${data}\n1\n5432\n${data}\n\n  1234  5678\nready   \n`;
    await writeFile(path.join(data, 'postmaster.pid'), stale);
    await writeFile(path.join(data, '.s.PGSQL.5432.lock'), stale);
    const store = await open(dataDir);
    expect(store.server.joined).toBe(false);
    expect(sleeper.exitCode).toBeNull();
    expect(
      (await readdir(dataDir)).concat(await readdir(data)).filter((name) => name.includes('.new-')),
    ).toEqual([]);
  });

  test('works in a path with spaces and in one too long for a socket', async () => {
    const dataDir = await temporaryDataDir('a folder, "of" mine', 'x'.repeat(100), 'y'.repeat(60));
    const store = await open(dataDir);
    expect(await store.database.query(ONE)).toEqual([{ one: 1 }]);
    const lock = await readLockFile(path.join(dataDir, 'postgres'));
    const socketFolder = await stat(lock!.socketFolder);
    const data = await stat(path.join(dataDir, 'postgres'));
    expect({ mode: socketFolder.mode & 0o777, uid: socketFolder.uid }).toEqual({
      mode: 0o700,
      uid: data.uid,
    });
    expect(lock!.socketFolder.length).toBeLessThan(90);
    await store.close();
    await expect(stat(lock!.socketFolder)).rejects.toThrow('ENOENT');
  });

  test('clears the drafts of processes that died while they initialised', async () => {
    const dataDir = await temporaryDataDir('data');
    const gone = spawn('true');
    await new Promise((resolve) => gone.once('exit', resolve));
    await mkdir(path.join(dataDir, `postgres.new-${gone.pid ?? 0}-0badc0de`, 'base'), {
      recursive: true,
    });
    await open(dataDir);
    expect(await readdir(dataDir)).toEqual(['postgres']);
  });

  test('logs into its data directory and says there what went wrong when it cannot start', async () => {
    const dataDir = await usedDataDir();
    const log = await readFile(path.join(dataDir, 'postgres', 'server.log'), 'utf8');
    expect(log).toContain('database system is ready to accept connections');
    await rm(path.join(dataDir, 'postgres', 'global', 'pg_control'));
    const error = await open(dataDir).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'embedded_server_unavailable' });
    expect((error as FullmatchError).message).toContain('pg_control');
  });
});

describe.skipIf(!isRoot())('as root (skipped: this process is not root)', () => {
  test('puts the data where the system user can reach them when a folder above is closed, and finds them again', async () => {
    const folder = await createTemporaryFolder('fullmatch-closed-');
    const closed = path.join(folder.path, 'closed');
    const dataDir = path.join(closed, 'data');
    await mkdir(dataDir, { recursive: true });
    await chmod(closed, 0o700);
    const first = await open(dataDir);
    const location = (await readFile(path.join(dataDir, 'postgres-location'), 'utf8'))
      .trim()
      .split('\n')
      .at(-1)!;
    cleanUps.push(async () => {
      await killServer(location);
      await rm(location, { recursive: true, force: true });
      await folder.remove();
    });
    expect(location.startsWith(`${SYSTEM_FOLDER}/data-`)).toBe(true);
    const { uid } = await ensureSystemUser();
    const found = await stat(location);
    expect({ uid: found.uid, mode: found.mode & 0o777 }).toEqual({ uid, mode: 0o700 });
    await first.database.query(sql('test: create', 'CREATE TABLE kept (id integer)'));
    await first.close();
    const second = await open(dataDir);
    await second.database.query(sql('test: read', 'SELECT * FROM kept'));
    await second.close();
    await rm(location, { recursive: true });
    await expect(open(dataDir)).rejects.toMatchObject({ code: 'data_directory_unusable' });
  });

  test('joins the server of an ordinary user as that user would', async () => {
    const dataDir = await temporaryDataDir('data');
    await mkdir(dataDir);
    await chown(dataDir, NOBODY.uid, NOBODY.gid);
    const ordinary = await openInProcess(dataDir, NOBODY);
    expect(ordinary.opened.code).toBeUndefined();
    const store = await open(dataDir);
    expect(store.server).toMatchObject({ joined: true, processId: ordinary.opened.processId });
    await ordinary.close();
    await store.close();
    const again = await open(dataDir);
    expect((await stat(path.join(dataDir, 'postgres'))).uid).toBe(NOBODY.uid);
    await again.close();
  });

  test('takes over data that root was left the owner of', async () => {
    const dataDir = await usedDataDir();
    const data = path.join(dataDir, 'postgres');
    await run('chown', '-R', '0:0', data);
    const store = await open(dataDir);
    expect(await store.database.query(ONE)).toEqual([{ one: 1 }]);
  });

  test('refuses an ordinary user the data of another', async () => {
    const dataDir = await usedDataDir();
    const other = await openInProcess(dataDir, NOBODY);
    expect(other.opened.code).toBe('data_directory_unusable');
  });
});
