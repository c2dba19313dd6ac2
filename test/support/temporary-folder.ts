import { readFileSync, statfsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';

const SHARED_MEMORY = '/dev/shm';
/** More than all tests of a run keep there at once: 0.7 GB in the fast suite. */
const ENOUGH_BYTES = 8 * 2 ** 30;

/** Returns whether programs can run in shared memory, and there is plenty of it. */
function hasSharedMemory(): boolean {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    const [, , type, options = ''] =
      mounts.map((line) => line.split(' ')).find(([, at]) => at === SHARED_MEMORY) ?? [];
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    const isUsable = type === 'tmpfs' && !options.split(',').includes('noexec');
    return isUsable && Math.min(bavail * bsize, freemem()) >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}

/**
 * Temporary folders are in shared memory unless TMPDIR names another place. A database consists of 300 files,
 * and a file system that has just deleted many finds a place for a new one slowly: on ext4 that took half of
 * the system time of the tests.
 */
const PARENT = process.env['TMPDIR'] === undefined && hasSharedMemory() ? SHARED_MEMORY : tmpdir();

/**
 * A new folder and a function that removes it. It is accessible to all users so that PostgreSQL's user can
 * enter it when the tests run as root: otherwise its data would go to /var/lib/fullmatch and stay there.
 */
export async function createTemporaryFolder(
  name = 'fullmatch-test-',
): Promise<{ path: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(PARENT, name));
  await chmod(folder, 0o755);
  return { path: folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
