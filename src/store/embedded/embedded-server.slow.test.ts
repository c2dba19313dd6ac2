// Concurrent starts, unusual paths and users. What each service relies on: embedded-server.test.ts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataDirectories, killServer } from '../../../test/support/data-directories.ts';
import { createTemporaryFolder } from '../../../test/support/temporary-folder.ts';
import { sql } from '../database.ts';
import { readLockFile } from './lock-file.ts';
import { ensureSystemUser, isRoot, SYSTEM_FOLDER } from './system-user.ts';

const ONE = sql('test: select one', 'SELECT 1 AS one');
const NOBODY = { uid: 65_534, gid: 65_534 };

const { cleanUp, open, openInProcess, temporaryDataDir, usedDataDir } = dataDirectories();

async function run(command: string, ...parameters: string[]): Promise<void> {
  const [code] = (await once(spawn(command, parameters), 'exit')) as [number | null];
  expect(code).toBe(0);
}

describe('Embedded server', () => {
  test('is created once by several concurrent first users', async () => {
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

  test('serves a user that arrives while the last one stops it', async () => {
    const dataDir = await usedDataDir();
    let store = await open(dataDir);
    for (let round = 0; round < 8; round += 1) {
      const [next] = await Promise.all([open(dataDir), store.close()]);
      expect(await next.database.query(ONE)).toEqual([{ one: 1 }]);
      store = next;
    }
  });

  test('starts despite a lock file whose process id belongs to another program', async () => {
    const dataDir = await usedDataDir();
    const data = path.join(dataDir, 'postgres');
    const { uid, gid } = await stat(data);
    const sleeper = spawn('sleep', ['60'], { cwd: '/', ...(isRoot() ? { uid, gid } : {}) });
    cleanUp(async () => void sleeper.kill());
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

  test('removes drafts of processes that died during initialization', async () => {
    const dataDir = await temporaryDataDir('data');
    const gone = spawn('true');
    await new Promise((resolve) => gone.once('exit', resolve));
    await mkdir(path.join(dataDir, `postgres.new-${gone.pid ?? 0}-0badc0de`, 'base'), {
      recursive: true,
    });
    await open(dataDir);
    expect(await readdir(dataDir)).toEqual(['postgres']);
  });
});

describe.skipIf(!isRoot())('as root (skipped: this process is not root)', () => {
  test('moves the data where the system user can reach it if a parent is closed, and finds it again', async () => {
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
    cleanUp(async () => {
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

  test('joins the server of an ordinary user as that user', async () => {
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

  test('takes over data that was left owned by root', async () => {
    const dataDir = await usedDataDir();
    const data = path.join(dataDir, 'postgres');
    await run('chown', '-R', '0:0', data);
    const store = await open(dataDir);
    expect(await store.database.query(ONE)).toEqual([{ one: 1 }]);
  });

  test('denies an ordinary user the data of another', async () => {
    const dataDir = await usedDataDir();
    const other = await openInProcess(dataDir, NOBODY);
    expect(other.opened.code).toBe('data_directory_unusable');
  });
});
