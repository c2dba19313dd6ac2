import { chmod, chown, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStoreProcess } from '../../../test/support/open-store-process.ts';
import { createTemporaryFolder } from '../../../test/support/temporary-folder.ts';
import { silentLogger } from '../../log.ts';
import { checkMajorVersion, draftName, locateDataDirectory } from './data-directory.ts';
import { openStore } from '../open-store.ts';
import { isRoot } from './system-user.ts';

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

beforeEach(async () => {
  folder = await createTemporaryFolder();
});
afterEach(() => folder.remove());

const locate = (...names: string[]) =>
  locateDataDirectory(path.join(folder.path, ...names), silentLogger);

describe('Data directory', () => {
  test('is created with its parents as the subfolder postgres', async () => {
    expect((await locate('a', 'b')).path).toBe(path.join(folder.path, 'a', 'b', 'postgres'));
    expect((await stat(path.join(folder.path, 'a', 'b'))).isDirectory()).toBe(true);
  });

  test('is rejected if it, a parent or its folder postgres is a file', async () => {
    await writeFile(path.join(folder.path, 'file'), '');
    await mkdir(path.join(folder.path, 'data'));
    await writeFile(path.join(folder.path, 'data', 'postgres'), '');
    for (const names of [['file'], ['file', 'data'], ['data']]) {
      await expect(locate(...names)).rejects.toMatchObject({ code: 'data_directory_unusable' });
    }
  });

  test('is rejected if the folder postgres contains something else', async () => {
    await mkdir(path.join(folder.path, 'postgres'));
    await writeFile(path.join(folder.path, 'postgres', 'letter.txt'), '');
    const opened = openStore({ dataDir: folder.path, poolSize: 1 }, silentLogger);
    await expect(opened).rejects.toMatchObject({ code: 'data_directory_unusable' });
  });

  test('follows a symlink, and rejects a dangling one', async () => {
    await symlink(path.join(folder.path, 'disk'), path.join(folder.path, 'postgres'));
    await expect(locate()).rejects.toMatchObject({ code: 'data_directory_unusable' });
    await mkdir(path.join(folder.path, 'disk'));
    expect((await locate()).path).toBe(path.join(folder.path, 'disk'));
  });

  test('is rejected if created by a newer or older PostgreSQL version', async () => {
    const data = path.join(folder.path, 'postgres');
    await mkdir(data);
    for (const [version, code] of [
      ['99', 'data_directory_too_new'],
      ['14', 'data_directory_too_old'],
    ] as const) {
      await writeFile(path.join(data, 'PG_VERSION'), `${version}\n`);
      const opened = openStore({ dataDir: folder.path, poolSize: 1 }, silentLogger);
      await expect(opened).rejects.toMatchObject({ code, details: { made_by: Number(version) } });
    }
    expect(() => checkMajorVersion(data, 18, { major: 18, folder: '/' })).not.toThrow();
  });

  test('has its permissions restricted again if someone opened them', async () => {
    const data = path.join(folder.path, 'postgres');
    await mkdir(data);
    await chmod(data, 0o755);
    await locate();
    expect((await stat(data)).mode & 0o777).toBe(0o700);
  });

  test('uses a different draft name for each attempt', () => {
    expect(draftName('/x')).not.toBe(draftName('/x'));
  });

  test.skipIf(isRoot())(
    'is rejected if not writable (skipped: root may write anywhere)',
    async () => {
      await chmod(folder.path, 0o500);
      const opened = openStore({ dataDir: folder.path, poolSize: 1 }, silentLogger);
      await expect(opened).rejects.toMatchObject({ code: 'data_directory_unusable' });
    },
  );

  test.skipIf(!isRoot())(
    'is rejected for an ordinary user without write access (skipped: not root)',
    async () => {
      const user = { uid: 65_534, gid: 65_534 };
      const refused = await openStoreProcess(folder.path, user);
      expect(refused.opened.code).toBe('data_directory_unusable');
      await chown(folder.path, user.uid, user.gid);
      await chmod(folder.path, 0o700);
      const accepted = await openStoreProcess(folder.path, user);
      expect(accepted.opened.joined).toBe(false);
      await accepted.close();
    },
  );
});
