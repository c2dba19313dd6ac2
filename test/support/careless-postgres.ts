import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { silentLogger } from '../../src/log.ts';
import { locateDataDirectory } from '../../src/store/embedded/data-directory.ts';
import { findBinaries } from '../../src/store/embedded/postgres-binaries.ts';
import { isRoot, SYSTEM_FOLDER } from '../../src/store/embedded/system-user.ts';

/**
 * Durability settings disabled on the test server: it neither waits for the disk nor survives a crash. Tests
 * that kill PostgreSQL, or fill its disk, use their own servers.
 */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '4GB',
  checkpoint_timeout: '1h',
  // Databases are cloned and dropped all the time.
  shared_buffers: '256MB',
};

/**
 * Wrappers that run the package's PostgreSQL without durability, for `database.binaries`.
 * @returns their folder, below the data directory
 */
export async function writeCarelessPrograms(dataDir: string): Promise<string> {
  const { account } = await locateDataDirectory(dataDir, silentLogger);
  const { postgres, initdb } = await findBinaries(
    { copyFolder: isRoot() ? SYSTEM_FOLDER : dataDir, ...(account && { account }) },
    silentLogger,
  );
  const folder = path.join(dataDir, 'programs');
  await mkdir(folder, { mode: 0o755 });
  // The last of two values of a setting wins.
  const settings = Object.entries(SETTINGS).map(([name, value]) => `-c ${name}=${value}`);
  await writeProgram(
    path.join(folder, 'postgres'),
    `exec "${postgres}" "$@" ${settings.join(' ')}`,
  );
  await writeProgram(
    path.join(folder, 'initdb'),
    `exec "${initdb}" "$@" --no-sync --wal-segsize=1`,
  );
  return folder;
}

function writeProgram(file: string, line: string): Promise<void> {
  return writeFile(file, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
}
