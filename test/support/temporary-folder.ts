import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * A new folder and a function that removes it. It is accessible to all users so that PostgreSQL's user can
 * enter it when the tests run as root: otherwise its data would go to /var/lib/fullmatch and stay there.
 */
export async function createTemporaryFolder(
  name = 'fullmatch-test-',
): Promise<{ path: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), name));
  await chmod(folder, 0o755);
  return { path: folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
