import { chmod, cp, lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTemporaryFolder } from '../../../test/support/temporary-folder.ts';
import { silentLogger } from '../../log.ts';
import { findBinaries, locatePackage } from './postgres-binaries.ts';
import { type Account } from './run-command.ts';
import { ensureSystemUser, isRoot } from './system-user.ts';

let temporary: Awaited<ReturnType<typeof createTemporaryFolder>>;
let account: Account | undefined;

beforeAll(async () => {
  temporary = await createTemporaryFolder();
  if (isRoot()) account = await ensureSystemUser();
});
afterAll(() => temporary.remove());

/** The package as npm unpacks it, before its install script created the links. */
async function unlinkedPackage(name: string): Promise<string> {
  const folder = path.join(temporary.path, name, 'package');
  await cp(locatePackage(), folder, {
    recursive: true,
    filter: async (source) => !(await lstat(source)).isSymbolicLink(),
  });
  return folder;
}

function find(packageFolder: string) {
  const copyFolder = path.join(temporary.path, 'copies');
  return findBinaries(
    { packageFolder, copyFolder, ...(account === undefined ? {} : { account }) },
    silentLogger,
  );
}

/** A folder whose program `postgres` runs the given script. */
async function fakePrograms(name: string, script: string): Promise<string> {
  const folder = path.join(temporary.path, name);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'postgres'), script);
  await chmod(path.join(folder, 'postgres'), 0o755);
  return folder;
}

describe('PostgreSQL binaries', () => {
  test('come from the package, with missing symlinks created', async () => {
    const folder = await unlinkedPackage('plain');
    const binaries = await find(folder);
    expect(binaries.folder).toBe(path.join(folder, 'native', 'bin'));
    expect(binaries.major).toBeGreaterThanOrEqual(18);
    expect(await find(folder)).toEqual(binaries);
  });

  test.skipIf(!isRoot())(
    'are copied once if the system user cannot reach them (skipped: this process is not root)',
    async () => {
      const folder = await unlinkedPackage('closed');
      await chmod(path.dirname(folder), 0o700);
      const [first, second] = await Promise.all([find(folder), find(folder)]);
      expect(first).toEqual(second);
      expect(first.folder.startsWith(path.join(temporary.path, 'copies'))).toBe(true);
      expect(await readdir(path.join(temporary.path, 'copies'))).toHaveLength(1);
      expect(await find(folder)).toEqual(first);
    },
  );

  test.skipIf(isRoot())(
    'are copied if their symlinks cannot be created (skipped: root may write anywhere)',
    async () => {
      const folder = await unlinkedPackage('unwritable');
      await chmod(path.join(folder, 'native', 'lib'), 0o555);
      const binaries = await find(folder);
      await chmod(path.join(folder, 'native', 'lib'), 0o755);
      expect(binaries.folder.startsWith(path.join(temporary.path, 'copies'))).toBe(true);
    },
  );

  test('are not run from a copy owned by someone else', async () => {
    const folder = await unlinkedPackage('squatted');
    // Closed to the system user, and to an ordinary user who would create the links.
    await chmod(path.dirname(folder), 0o700);
    await chmod(path.join(folder, 'native', 'lib'), 0o500);
    const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
      version: string;
    };
    const copyFolder = path.join(temporary.path, 'squatted-copies');
    await mkdir(copyFolder);
    const name = `postgres-${manifest.version}-${process.platform}-${process.arch}`;
    await symlink(temporary.path, path.join(copyFolder, name));
    const request = {
      packageFolder: folder,
      copyFolder,
      ...(account === undefined ? {} : { account }),
    };
    const found = findBinaries(request, silentLogger);
    await expect(found).rejects.toMatchObject({ code: 'embedded_server_unavailable' });
    await chmod(path.join(folder, 'native', 'lib'), 0o700);
  });

  test("may be the operator's own, in the given folder or its bin folder", async () => {
    const script = '#!/bin/sh\necho "postgres (PostgreSQL) 16.9 (Debian 16.9-1)"\n';
    const bin = await fakePrograms('own/bin', script);
    for (const folder of [bin, path.dirname(bin)]) {
      const binaries = await findBinaries({ folder, copyFolder: '/' }, silentLogger);
      expect(binaries).toMatchObject({ folder: bin, major: 16, initdb: path.join(bin, 'initdb') });
    }
  });

  test('are rejected if too old, missing or not executable', async () => {
    const old = await fakePrograms('old', '#!/bin/sh\necho "postgres (PostgreSQL) 14.22"\n');
    const broken = await fakePrograms('broken', '#!/nowhere/loader\n');
    const missing = path.join(temporary.path, 'missing');
    for (const [folder, code] of [
      [old, 'database_too_old'],
      [broken, 'embedded_server_unavailable'],
      [missing, 'embedded_server_unavailable'],
    ] as const) {
      await expect(findBinaries({ folder, copyFolder: '/' }, silentLogger)).rejects.toMatchObject({
        code,
      });
    }
  });
});
